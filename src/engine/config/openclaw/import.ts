import { isAbsolute, join, relative } from 'node:path';
import { MIN_SECRET_NUMBER, namesSecretText } from '../../../base/telemetry/telemetry.ts';
import { printSentence } from '../../../base/finding.ts';
import {
  holdsCredentials,
  printYaml,
  type Finding,
  type LocatedValue,
} from '../../../base/document/document.ts';
import type { BesideSettings, InlineMapping } from '../settings.ts';
import { isJsonObject, memberAt } from '../../../base/json.ts';

/** A file to be written; a secret is readable by its owner only. */
export interface ImportedFile {
  /** Relative to the folder that is written into. */
  readonly name: string;
  readonly text: string;
  readonly isSecret: boolean;
}

/** An OpenClaw configuration as one of ours, and what became of each part. */
export interface ImportedConfig {
  readonly files: readonly ImportedFile[];
  readonly kept: readonly string[];
  readonly changed: readonly string[];
  readonly lost: readonly string[];
}

/** What is read of an OpenClaw configuration, already translated. */
interface TranslatedConfig extends Pick<BesideSettings, 'inlineMappings' | 'runDefaults'> {
  readonly root: LocatedValue;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface ImportOptions {
  /** Absolute: the folder the files are written into. */
  readonly into: string;
  /** Variables that will be there without the OpenClaw file. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** What has no counterpart here, as the translation found. */
  readonly findings: readonly Finding[];
}

/** Beside the configuration; ignored by git. */
const SECRETS_FOLDER = '.sluice/secrets';

/** Writes an OpenClaw configuration, already translated, as a `sluice.yaml` and a mapping file. */
export function importOpenClaw(
  read: TranslatedConfig,
  { into, env, findings }: ImportOptions,
): ImportedConfig {
  const run: ImportState = { secrets: new Map(), changed: [], env, fileEnv: read.env };
  const value = structuredClone(read.root.value) as Record<string, unknown>;
  const hooks = importedHooks(value['hooks'], into);
  const config = withoutSecrets(run, { ...value, hooks: { lenient: true, ...hooks } }, []);
  const imported = importMappings(read.inlineMappings, hooks);
  const mappings = imported.map(({ mapping }) => mapping);
  return {
    files: [...writtenFiles(config, mappings), ...secretFiles(run)],
    kept: [...Object.keys(config as object), ...mappings.map(nameOf)],
    changed: [...run.changed, ...prefixRemark(hooks), ...remarksOf(imported, 'changed')],
    lost: [...lostOutside(read, findings), ...remarksOf(imported, 'lost')],
  };
}

function importMappings(
  written: readonly InlineMapping[],
  hooks: Readonly<Record<string, unknown>>,
): readonly ImportedMapping[] {
  return written.flatMap(
    ({ value: entry }, index) => importMapping(entry.value, index, runnerFinder(hooks)) ?? [],
  );
}

function remarksOf(imported: readonly ImportedMapping[], kind: 'changed' | 'lost'): readonly string[] {
  return imported.flatMap((one) => one[kind].map((text) => `${nameOf(one.mapping)}: ${text}`));
}

/** The block `hooks` without its mappings, which go into a file of their own; paths are relative to the new folder. */
function importedHooks(written: unknown, into: string): Record<string, unknown> {
  const hooks = isJsonObject(written) ? { ...written } : {};
  delete hooks['mappings'];
  const { transformsDir } = hooks;
  if (typeof transformsDir === 'string' && isAbsolute(transformsDir)) {
    hooks['transformsDir'] = relative(into, transformsDir) || '.';
  }
  return hooks;
}

function runnerFinder(hooks: Readonly<Record<string, unknown>>): (id: string) => string | undefined {
  const { agents } = hooks;
  return (id) => {
    const name = memberAt(agents, ['runners', id]);
    return typeof name === 'string' ? name : undefined;
  };
}

/** What is lost besides parts of mappings. */
function lostOutside({ runDefaults }: TranslatedConfig, findings: readonly Finding[]): readonly string[] {
  const defaults = Object.keys(runDefaults).map(
    (name) => `hooks.${name}: its model and thinking; write them into a mapping with match.path ${name}`,
  );
  return [
    ...defaults,
    ...findings.filter(({ code }) => LOSSES.includes(code)).map(({ message }) => printSentence(message)),
  ];
}

function nameOf(mapping: Readonly<Record<string, unknown>>): string {
  return `mapping ${String(mapping['id'])}`;
}

function writtenFiles(config: unknown, mappings: readonly object[]): ImportedConfig['files'] {
  const main = { name: 'sluice.yaml', text: printYaml(config), isSecret: false };
  if (mappings.length === 0) return [main];
  return [main, { name: 'mappings/openclaw.yaml', text: printYaml(mappings), isSecret: false }];
}

/** Each secret in a file of its own, in a folder that git ignores. */
function secretFiles({ secrets }: ImportState): ImportedConfig['files'] {
  if (secrets.size === 0) return [];
  const files = [...secrets].map(([name, text]) => ({ name, text: `${text}\n`, isSecret: true }));
  return [...files, { name: '.sluice/.gitignore', text: '*\n', isSecret: false }];
}

function prefixRemark(hooks: Readonly<Record<string, unknown>>): readonly string[] {
  const keys = hooks['sessionKeys'];
  return isJsonObject(keys) && keys['allowedPrefixes'] !== undefined
    ? ['hooks.sessionKeys.allowedPrefixes: upper and lower case differ here']
    : [];
}

const LOSSES: readonly string[] = ['NOT_TRANSLATED', 'IGNORED_SECTIONS', 'IGNORED_HOOK_KEYS'];

interface ImportState {
  readonly secrets: Map<string, string>;
  readonly changed: string[];
  readonly env: ImportOptions['env'];
  readonly fileEnv: TranslatedConfig['env'];
}

/** Secrets that stand in the file go into files of their own; references stay as they are. */
function withoutSecrets(run: ImportState, value: unknown, path: readonly string[]): unknown {
  if (Array.isArray(value)) {
    return value.map((item, index) => withoutSecrets(run, item, [...path, String(index)]));
  }
  if (isJsonObject(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [key, withoutSecrets(run, item, [...path, key])]),
    );
  }
  const key = path.findLast((step) => !/^\d+$/.test(step)) ?? '';
  const literal = literalOf(run, value, key);
  if (literal === undefined) return value;
  const base = join(SECRETS_FOLDER, path.join('-').replaceAll(/[^\w-]/g, '-'));
  let name = base;
  for (let count = 2; run.secrets.has(name); count += 1) name = `${base}-${count}`;
  run.secrets.set(name, literal);
  run.changed.push(`${path.join('.')} is read from ${name}, which only its owner can read`);
  return { file: `./${name}` };
}

/** The secret that stands at a key; undefined where none does, or where a reference finds it here, too. */
function literalOf(run: ImportState, value: unknown, key: string): string | undefined {
  if (typeof value === 'number')
    return namesSecretText(key) && Math.abs(value) >= MIN_SECRET_NUMBER ? String(value) : undefined;
  if (typeof value !== 'string' || value === '') return undefined;
  const name = /^\$\{([A-Za-z_]\w*)\}$/.exec(value)?.[1];
  // A variable of their file or of a `.env` beside it is not there for ours.
  if (name !== undefined) return run.env[name] === undefined ? run.fileEnv[name] : undefined;
  const isSecret = namesSecretText(key) || (/^\S+:\/\/\S+$/.test(value) && holdsCredentials(value));
  if (!isSecret || /(?<!\$)\$\{[A-Za-z_]\w*\}/.test(value)) return undefined;
  return value.replaceAll('$${', () => '${');
}

/** A mapping in our words, and what is no longer as it was. */
interface ImportedMapping {
  readonly mapping: Readonly<Record<string, unknown>>;
  readonly changed: readonly string[];
  readonly lost: readonly string[];
}

/** Keys whose value is a template in both. */
const TEMPLATES = [
  'name',
  'sessionKey',
  'messageTemplate',
  'textTemplate',
  'to',
  'model',
  'thinking',
  'channel',
];
/** Keys that mean the same in both. */
const SAME = [
  'action',
  'wakeMode',
  'deliver',
  'timeoutSeconds',
  'allowUnsafeExternalContent',
  'transform',
  'forEach',
];
const TRANSFORM_CHANGED =
  'its transform gets url as text: write new URL(url, "http://localhost") where it reads url.searchParams';
const READ = ['id', 'match', 'agentId', ...TEMPLATES, ...SAME];

/** Writes a mapping of an OpenClaw file as one of ours; its id is the one it has there, so that nothing else changes. */
function importMapping(
  written: unknown,
  position: number,
  runnerOf: (agentId: string) => string | undefined,
): ImportedMapping | undefined {
  if (!isJsonObject(written)) return undefined;
  const templates = importTemplates(written);
  const agent = importAgent(written['agentId'], runnerOf);
  const mapping: Record<string, unknown> = {
    id: typeof written['id'] === 'string' ? written['id'] : `mapping-${String(position + 1)}`,
    ...(isJsonObject(written['match']) ? { match: written['match'] } : {}),
    ...Object.fromEntries(SAME.filter((key) => written[key] !== undefined).map((key) => [key, written[key]])),
    ...templates.texts,
    ...(agent.runner === undefined ? {} : { runner: agent.runner }),
  };
  const changed = mapping['transform'] === undefined ? [] : [TRANSFORM_CHANGED];
  const unread = Object.keys(written).filter((key) => !READ.includes(key));
  const ignored = unread.length === 0 ? [] : [`${unread.join(', ')}: no such key here`];
  return { mapping, changed: [...templates.changed, ...changed], lost: [...agent.lost, ...ignored] };
}

/** The texts of a mapping, and which of them had to be written differently. */
function importTemplates(written: Readonly<Record<string, unknown>>): {
  readonly texts: Readonly<Record<string, string>>;
  readonly changed: readonly string[];
} {
  const forEach = typeof written['forEach'] === 'string' ? written['forEach'].trim() : undefined;
  const texts: Record<string, string> = {};
  const changed: string[] = [];
  for (const key of TEMPLATES) {
    const value = written[key];
    if (typeof value !== 'string' && typeof value !== 'number') continue;
    const before = String(value);
    const text = importTemplate(before, forEach);
    texts[key] = text;
    if (text !== before) changed.push(`${key} is written as "${text.slice(0, 120)}"`);
  }
  return { texts, changed };
}

/** The runner that stands for the agent of a mapping. */
function importAgent(
  agentId: unknown,
  runnerOf: (agentId: string) => string | undefined,
): { readonly runner?: string; readonly lost: readonly string[] } {
  if (typeof agentId !== 'string') return { lost: [] };
  const runner = runnerOf(agentId);
  if (runner !== undefined) return { runner, lost: [] };
  const id = agentId.slice(0, 80);
  return { lost: [`agentId "${id}": there is no such agent, so the default agent takes its runs`] };
}

/** Rewrites expressions of OpenClaw: a payload path with a space or a sign stands in brackets here. */
function importTemplate(template: string, forEach: string | undefined): string {
  return template.replaceAll(/\{\{\s*([^}]+)\s*\}\}/g, (_, inner: string) => {
    const text = inner.trim();
    if (text === 'path' || text === 'now') return `{{${text}}}`;
    for (const root of ['headers', 'query'] as const) {
      if (text.startsWith(`${root}.`))
        return `{{${root}.${segments(text.slice(root.length + 1)).join('.')}}}`;
    }
    const path = text.startsWith('payload.') ? text.slice('payload.'.length) : text;
    const keys = segments(path);
    if (forEach !== undefined && keys[0] === forEach && keys[1] === '[0]') {
      return `{{${['item', ...keys.slice(2)].join('.')}}}`;
    }
    return `{{${['payload', ...keys].join('.')}}}`;
  });
}

/** The keys of a path; those that are no plain names stand in brackets. */
function segments(path: string): readonly string[] {
  return [...path.matchAll(/([^.[\]]+)|\[(\d+)\]/g)].map(([, key, index]) => {
    if (index !== undefined) return `[${index}]`;
    return /^[A-Za-z_][\w-]*$/.test(key ?? '') ? (key ?? '') : `[${key ?? ''}]`;
  });
}
