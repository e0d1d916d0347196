import { SECRET_KEY } from '../../../base/telemetry/telemetry.ts';
import { printSentence } from '../../../base/finding.ts';
import { isAbsolute, join, relative } from 'node:path';
import { printYaml, type Finding, type LocatedValue } from '../../../base/document/document.ts';
import type { BesideSettings, InlineMapping } from '../settings.ts';
import { isJsonObject, memberAt } from '../../../base/json.ts';
import { importMapping, type ImportedMapping } from './import-mappings.ts';

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
  /** Where `${NAME}` is looked up. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface ImportOptions {
  /** Absolute: the folder the files are written into. */
  readonly into: string;
  /** Variables that will be there without the OpenClaw file. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** What the translation said has no counterpart. */
  readonly findings: readonly Finding[];
}

/** Beside the configuration; ignored by git. */
const SECRETS_FOLDER = '.sluice/secrets';

/** Writes an OpenClaw configuration, already translated, as a `sluice.yaml` and a mapping file. */
export function importOpenClaw(
  read: TranslatedConfig,
  { into, env, findings }: ImportOptions,
): ImportedConfig {
  const run: Run = { secrets: new Map(), changed: [], env, fileEnv: read.env };
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

/** Finds the runner of an agent by its id. */
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
function secretFiles({ secrets }: Run): ImportedConfig['files'] {
  if (secrets.size === 0) return [];
  const files = [...secrets].map(([name, text]) => ({ name, text: `${text}\n`, isSecret: true }));
  return [...files, { name: '.sluice/.gitignore', text: '*\n', isSecret: false }];
}

function prefixRemark(hooks: Readonly<Record<string, unknown>>): readonly string[] {
  const keys = hooks['sessionKeys'];
  return isJsonObject(keys) && keys['allowedPrefixes'] !== undefined
    ? ['hooks.sessionKeys.allowedPrefixes: upper and lower case are told apart here']
    : [];
}

const LOSSES: readonly string[] = ['NOT_TRANSLATED', 'IGNORED_SECTIONS', 'IGNORED_HOOK_KEYS'];

interface Run {
  /** Content by file name. */
  readonly secrets: Map<string, string>;
  readonly changed: string[];
  readonly env: ImportOptions['env'];
  readonly fileEnv: TranslatedConfig['env'];
}

/** Secrets that stand in the file go into files of their own; references stay as they are. */
function withoutSecrets(run: Run, value: unknown, path: readonly string[]): unknown {
  if (Array.isArray(value)) {
    return value.map((item, index) => withoutSecrets(run, item, [...path, String(index)]));
  }
  if (isJsonObject(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [key, withoutSecrets(run, item, [...path, key])]),
    );
  }
  const key = path.findLast((step) => !/^\d+$/.test(step)) ?? '';
  if (typeof value !== 'string') return value;
  const literal = literalOf(run, value, key);
  if (literal === undefined) return value;
  const name = join(SECRETS_FOLDER, path.join('-').replaceAll(/[^\w-]/g, '-'));
  run.secrets.set(name, literal);
  run.changed.push(`${path.join('.')} is read from ${name}, which only its owner can read`);
  return { file: `./${name}` };
}

/** The secret that stands at a key; undefined where none does, or where a reference finds it here, too. */
function literalOf(run: Run, value: string, key: string): string | undefined {
  const name = /^\$\{([A-Za-z_]\w*)\}$/.exec(value)?.[1];
  // A variable of their file or of a `.env` beside it is not there for ours.
  if (name !== undefined) return run.env[name] === undefined ? run.fileEnv[name] : undefined;
  if (!SECRET_KEY.test(key) || /(?<!\$)\$\{[A-Za-z_]\w*\}/.test(value)) return undefined;
  return value.replaceAll('$${', () => '${');
}
