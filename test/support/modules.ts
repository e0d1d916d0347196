/** The table of modules, as data: which layer a module stands in, whom it may import, which packages it owns. And the scanner of imports. */
import { globSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folders of `src`, from the lowest: a file imports files of its own layer and of those before it. */
export const LAYERS = ['base', 'engine', 'service', 'authoring', 'frontends'] as const;
export type Layer = (typeof LAYERS)[number];

interface ModuleRules {
  readonly layer: Layer;
  /** Folders and root files whose entry may be imported. */
  readonly imports: readonly string[];
  /** Folders of which only types may be imported. */
  readonly types?: readonly string[];
  /** Packages (and node: modules) no other folder may import. */
  readonly owns?: readonly string[];
}

const CONTRACT = ['request', 'action', 'conversation', 'errors'];
/** Imported from everywhere. */
export const COMMON_FOLDERS = ['telemetry', 'json', 'finding', 'ignored'];
export const COMMON_PACKAGES = ['zod'];

export const MODULES: Readonly<Record<string, ModuleRules>> = {
  json: { layer: 'base', imports: [] },
  request: { layer: 'base', imports: [] },
  action: { layer: 'base', imports: ['conversation', 'request'] },
  errors: { layer: 'base', imports: [] },
  finding: { layer: 'base', imports: [] },
  ignored: { layer: 'base', imports: [] },
  conversation: { layer: 'base', imports: [] },
  'compare-secrets': { layer: 'base', imports: [] },
  uuid: { layer: 'base', imports: [] },
  address: { layer: 'base', imports: [] },
  'write-file': { layer: 'base', imports: [] },
  marks: { layer: 'base', imports: ['compare-secrets', 'conversation'] },
  'process-use': { layer: 'base', imports: [] },
  'own-package': { layer: 'base', imports: [] },
  document: {
    layer: 'base',
    imports: ['timers'],
    owns: ['yaml', '@humanwhocodes/momoa', '@babel/code-frame'],
  },
  telemetry: {
    layer: 'base',
    imports: ['timers'],
    owns: ['@prometheus-io/client', '@opentelemetry/api', 'sonic-boom'],
  },
  timers: { layer: 'base', imports: [] },
  outgoing: { layer: 'base', imports: [] },
  boundary: { layer: 'base', imports: ['action'], owns: ['character-entities', 'character-entities-legacy'] },
  verify: { layer: 'engine', imports: ['compare-secrets', 'errors', 'payload', 'request'], owns: ['jose'] },
  payload: { layer: 'base', imports: ['errors'], owns: ['@remix-run/multipart-parser', 'saxes'] },
  config: { layer: 'engine', imports: ['address', 'document', 'errors', 'action'] },
  sandbox: {
    layer: 'engine',
    imports: ['errors', 'document', 'request', 'process-use'],
    owns: ['isolated-vm', 'esbuild', 'tsx', '@noble/hashes', 'whatwg-url-minimum'],
  },
  storage: {
    layer: 'engine',
    imports: ['address', 'errors', 'action', 'conversation', 'marks', 'request', 'timers'],
    owns: ['node:sqlite', 'pg'],
  },
  mapping: {
    layer: 'engine',
    imports: ['boundary', 'document', 'payload', 'senders', 'verify', ...CONTRACT],
    types: ['config', 'sandbox'],
    owns: ['json-logic-js', 'handlebars'],
  },
  hook: {
    layer: 'engine',
    imports: ['mapping', 'marks', 'payload', 'boundary', 'document', 'senders', 'uuid', ...CONTRACT],
    types: ['config', 'sandbox', 'verify'],
  },
  server: {
    layer: 'service',
    imports: [
      'compare-secrets',
      'document',
      'hook',
      'boundary',
      'verify',
      'payload',
      'storage',
      'config',
      'request',
      'errors',
      'action',
      'timers',
    ],
    types: ['mapping', 'runners', 'sandbox'],
    owns: ['node:http'],
  },
  runners: {
    layer: 'service',
    imports: ['document', 'config', 'action', 'errors', 'outgoing', 'timers', 'process-use', 'write-file'],
    types: ['storage'],
    owns: ['ai', '@ai-sdk/anthropic', '@ai-sdk/openai', '@ai-sdk/openai-compatible'],
  },
  channels: {
    layer: 'service',
    imports: ['config', 'action', 'marks', 'outgoing', 'timers'],
    owns: ['nodemailer'],
  },
  gateway: {
    layer: 'service',
    imports: [
      'runners',
      'channels',
      'storage',
      'boundary',
      'action',
      'config',
      'errors',
      'outgoing',
      'senders',
      'timers',
      'uuid',
    ],
  },
  recovery: {
    layer: 'service',
    imports: ['config', 'generation', 'outgoing', 'senders', 'server', 'storage', 'timers'],
  },
  operations: {
    layer: 'service',
    imports: ['gateway', 'hook', 'payload', 'recovery', 'storage', 'timers'],
    types: ['action', 'config', 'mapping', 'server'],
  },
  mail: {
    layer: 'service',
    imports: [
      'address',
      'config',
      'document',
      'storage',
      'errors',
      'timers',
      'outgoing',
      'process-use',
      'write-file',
    ],
    owns: ['imapflow', 'mailauth', 'postal-mime', 'openid-client', 'html-to-text'],
  },
  senders: { layer: 'engine', imports: ['action', 'address', 'config', 'document', 'outgoing', 'verify'] },
  advice: {
    layer: 'authoring',
    imports: [
      'document',
      'senders',
      'config',
      'channels',
      'mapping',
      'runners',
      'hook',
      'payload',
      'sandbox',
      'verify',
      ...CONTRACT,
    ],
    types: ['generation', 'server'],
  },
  explanation: {
    layer: 'authoring',
    imports: [
      'action',
      'advice',
      'errors',
      'mapping',
      'hook',
      'boundary',
      'document',
      'runners',
      'storage',
      'request',
      'json',
      'verify',
    ],
    types: ['config'],
  },
  console: {
    layer: 'frontends',
    imports: [
      'compare-secrets',
      'explanation',
      'workbench',
      'boundary',
      'hook',
      'generation',
      'operations',
      'storage',
      'server',
      'config',
      'mapping',
      'document',
      'request',
      'timers',
    ],
    types: ['startup', 'advice'],
    owns: [
      'preact',
      '@preact/signals',
      'codemirror',
      '@codemirror/autocomplete',
      '@codemirror/lang-javascript',
      '@codemirror/lang-json',
      '@codemirror/lang-yaml',
      '@codemirror/language',
      '@codemirror/lint',
      '@codemirror/state',
      '@codemirror/view',
      '@lezer/highlight',
    ],
  },
  lsp: {
    layer: 'frontends',
    imports: ['workbench', 'document'],
    owns: ['vscode-languageserver', 'vscode-languageserver-textdocument'],
  },
  mcp: {
    layer: 'frontends',
    imports: [
      'document',
      'boundary',
      'workbench',
      'golden',
      'hook',
      'mapping',
      'request',
      'senders',
      'storage',
      'config',
    ],
    owns: ['@modelcontextprotocol/sdk'],
  },
  workbench: {
    layer: 'authoring',
    imports: [
      'advice',
      'explanation',
      'golden',
      'generation',
      'boundary',
      'document',
      'hook',
      'mapping',
      'sandbox',
      'senders',
      'storage',
      'request',
      'write-file',
    ],
  },
  golden: {
    layer: 'authoring',
    imports: [
      'own-package',
      'advice',
      'explanation',
      'hook',
      'mapping',
      'document',
      'boundary',
      'payload',
      'storage',
      'request',
      'action',
      'errors',
    ],
    types: ['sandbox'],
  },
};

/** Wiring: these stand on top and may import every entry file. */
export const TOP: Readonly<Record<string, Layer | 'top'>> = {
  main: 'top',
  index: 'top',
  cli: 'frontends',
  startup: 'service',
  generation: 'service',
};
/** Packages of the wiring. */
export const TOP_OWNS = ['commander', 'chokidar'];

/** Which layer a file stands in; its name is absolute. Files beside the layers stand on top of all. */
export function layerOf(file: string): Layer | 'top' {
  const [first = ''] = relative(SOURCE, file).split('/');
  return LAYERS.find((layer) => layer === first) ?? 'top';
}

/** Whether an import of `to` leads to a layer above that of `from`; both names are absolute. */
export function leadsUp(from: string, to: string): boolean {
  const height = (layer: Layer | 'top'): number => (layer === 'top' ? LAYERS.length : LAYERS.indexOf(layer));
  return height(layerOf(to)) > height(layerOf(from));
}

export const SOURCE = fileURLToPath(new URL('../../src', import.meta.url));

export interface Import {
  readonly file: string;
  readonly specifier: string;
  readonly typeOnly: boolean;
  /** Read when it is asked for. */
  readonly isDynamic?: boolean;
}

/** Every static, re-exporting and dynamic import with a literal specifier; comments and texts do not count. */
export function importsOf(file: string, text: string): readonly Import[] {
  const code = text.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/(^|\s)\/\/[^\n]*/g, '$1');
  const statement = /^\s*(?:import|export)\s+(type\s)?(?:[\w*{}\s,$]+?\sfrom\s+)?['"]([^'"\n]+)['"]/gm;
  const found = [...code.matchAll(statement)].map((match) => ({
    file,
    specifier: match[2] ?? '',
    typeOnly: match[1] !== undefined,
  }));
  const dynamic = [...code.matchAll(/\bimport\(\s*['"]([^'"\n]+)['"]\s*\)/g)].map((match) => ({
    file,
    specifier: match[1] ?? '',
    typeOnly: false,
    isDynamic: true,
  }));
  return [...found, ...dynamic];
}

/** `config` for `src/engine/config/settings.ts`, `errors` for `src/base/errors.ts`. */
export function moduleOf(file: string): string {
  const [first = '', second = ''] = relative(SOURCE, file).split('/');
  return (second === '' ? first : second).replace(/\.ts$/, '');
}

export function allImports(): readonly Import[] {
  return globSync('**/*.{ts,tsx}', { cwd: SOURCE })
    .toSorted()
    .flatMap((name) => importsOf(join(SOURCE, name), readFileSync(join(SOURCE, name), 'utf8')));
}
