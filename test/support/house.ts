/** The house table, as data: what a room is for, whom it may import, which packages it owns. And the scanner of imports. */
import { globSync, readFileSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/** What a room is for. Advice refuses nothing: without it the same requests are taken, and the same files refused. */
export type Kind = 'engine' | 'adapters' | 'advice' | 'tools';

interface RoomRules {
  readonly kind: Kind;
  /** Folders and root files whose entry may be imported. */
  readonly imports: readonly string[];
  /** Folders of which only types may be imported. */
  readonly types?: readonly string[];
  /** Packages (and node: modules) no other folder may import. */
  readonly owns?: readonly string[];
}

const CONTRACT = ['request', 'action', 'errors'];
/** Imported from everywhere. */
export const COMMON_FOLDERS = ['telemetry', 'json', 'finding'];
export const COMMON_PACKAGES = ['zod'];

export const HOUSE: Readonly<Record<string, RoomRules>> = {
  json: { kind: 'engine', imports: [] },
  request: { kind: 'engine', imports: [] },
  action: { kind: 'engine', imports: ['request'] },
  errors: { kind: 'engine', imports: [] },
  finding: { kind: 'engine', imports: [] },
  document: {
    kind: 'engine',
    imports: ['timers'],
    owns: ['yaml', '@humanwhocodes/momoa', '@babel/code-frame'],
  },
  telemetry: { kind: 'engine', imports: [], owns: ['pino', 'prom-client'] },
  timers: { kind: 'engine', imports: [] },
  outgoing: { kind: 'engine', imports: [] },
  boundary: { kind: 'engine', imports: ['action'] },
  verify: { kind: 'engine', imports: ['errors', 'payload'], owns: ['jose'] },
  payload: { kind: 'engine', imports: ['errors'], owns: ['@remix-run/multipart-parser', 'saxes'] },
  config: { kind: 'engine', imports: ['document', 'errors', 'action'] },
  sandbox: {
    kind: 'engine',
    imports: ['errors', 'document', 'request'],
    owns: ['isolated-vm', 'esbuild', 'tsx', '@noble/hashes'],
  },
  storage: {
    kind: 'engine',
    imports: ['errors', 'action', 'request', 'timers'],
    owns: ['node:sqlite', 'pg'],
  },
  mapping: {
    kind: 'engine',
    imports: ['document', 'payload', 'verify', ...CONTRACT],
    types: ['sandbox'],
    owns: ['json-logic-js', 'handlebars'],
  },
  hook: {
    kind: 'engine',
    imports: ['mapping', 'payload', 'boundary', 'document', ...CONTRACT],
    types: ['sandbox'],
  },
  server: {
    kind: 'engine',
    imports: ['hook', 'boundary', 'verify', 'payload', 'storage', 'config', 'request', 'errors', 'action'],
    types: ['mapping', 'sandbox'],
    owns: ['node:http', 'rate-limiter-flexible'],
  },
  runners: {
    kind: 'adapters',
    imports: ['document', 'config', 'action', 'errors', 'outgoing', 'timers'],
    types: ['storage'],
    owns: ['execa', 'ai', '@ai-sdk/anthropic', '@ai-sdk/openai', '@ai-sdk/openai-compatible'],
  },
  channels: {
    kind: 'adapters',
    imports: ['config', 'action', 'outgoing', 'timers', 'verify'],
    owns: ['grammy', '@discordjs/rest', '@slack/web-api', '@microsoft/teams.api', 'nodemailer'],
  },
  gateway: {
    kind: 'engine',
    imports: [
      'runners',
      'channels',
      'storage',
      'boundary',
      'action',
      'config',
      'errors',
      'outgoing',
      'timers',
    ],
  },
  operations: { kind: 'tools', imports: ['gateway', 'storage'] },
  mail: {
    kind: 'adapters',
    imports: ['config', 'document', 'storage', 'errors', 'timers', 'outgoing'],
    owns: ['imapflow', 'postal-mime', 'openid-client', 'html-to-text'],
  },
  senders: { kind: 'adapters', imports: ['document', 'verify'] },
  advice: {
    kind: 'advice',
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
    kind: 'tools',
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
    kind: 'tools',
    imports: [
      'advice',
      'explanation',
      'advice',
      'boundary',
      'hook',
      'golden',
      'operations',
      'storage',
      'server',
      'config',
      'mapping',
      'document',
      'request',
      'timers',
    ],
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
    kind: 'tools',
    imports: ['console', 'document', 'mapping', 'request'],
    owns: ['vscode-languageserver', 'vscode-languageserver-textdocument'],
  },
  mcp: {
    kind: 'tools',
    imports: ['boundary', 'console', 'golden', 'hook', 'mapping', 'request', 'senders', 'storage'],
    types: ['config'],
    owns: ['@modelcontextprotocol/sdk'],
  },
  golden: {
    kind: 'tools',
    imports: [
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
export const TOP: Readonly<Record<string, Kind>> = {
  cli: 'tools',
  main: 'tools',
  index: 'tools',
  service: 'engine',
  generation: 'engine',
};
/** Packages of the wiring. */
export const TOP_OWNS = ['commander', 'chokidar', '@clack/prompts'];

/**
 * Files of another kind than their room: names without `.ts`, by room. An interim list, which shrinks as files move.
 * A file is listed whole, by what most of it is for.
 */
const OTHER_KIND: Readonly<Record<string, Partial<Record<Kind, string>>>> = {
  document: {
    tools: 'edit-document format-diagnostics print-sarif source-frame',
  },
  verify: {
    tools: 'sign',
  },
  sandbox: {
    tools:
      'author-globals find-compiler module-coverage isolate-coverage run-unsandboxed typecheck unsandboxed-process',
  },
  generation: {
    tools: 'check-generation proof-listing',
  },
  explanation: {
    advice: `command-failures decision-reasons key-notes
      run-notes setting-notes stored-notes`,
  },
  golden: { advice: 'case-hints other-files' },
  cli: { advice: 'dev-hints dev-misses' },
};

const KIND_OF_FILE: ReadonlyMap<string, Kind> = new Map(
  Object.entries(OTHER_KIND).flatMap(([room, kinds]) =>
    Object.entries(kinds).flatMap(([kind, names]) =>
      names.split(/\s+/).map((name) => [`${room}/${name}`, kind as Kind] as const),
    ),
  ),
);

/** Files that the interim list names, as `room/name`. */
export const LISTED: readonly string[] = [...KIND_OF_FILE.keys()];

/** How the interim list names a file: by its room and its own name, whatever folder of the room it is in. */
export function listedName(file: string): string {
  return `${roomOf(file)}/${basename(file).replace(/\.\w+$/, '')}`;
}

/** What a file is for; its name is absolute. */
export function kindOf(file: string): Kind {
  const room = roomOf(file);
  const kind = KIND_OF_FILE.get(listedName(file)) ?? HOUSE[room]?.kind ?? TOP[room];
  if (kind === undefined) throw new Error(`${room} has no place in the house table`);
  return kind;
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

/** `config` for `src/config/settings.ts`, `errors` for `src/errors.ts`. */
export function roomOf(file: string): string {
  return (relative(SOURCE, file).split('/')[0] ?? '').replace(/\.ts$/, '');
}

export function allImports(): readonly Import[] {
  return globSync('**/*.{ts,tsx}', { cwd: SOURCE })
    .toSorted()
    .flatMap((name) => importsOf(join(SOURCE, name), readFileSync(join(SOURCE, name), 'utf8')));
}
