import { quoted, say, type SourceText } from '../../base/finding.ts';
import { createHash } from 'node:crypto';
import { dirname, resolve, basename } from 'node:path';
import {
  readDocument,
  type Finding,
  type LocatedValue,
  type Path,
  documentKind,
  findingAt,
  firstLine,
  nameOfKind,
  type OpenTexts,
} from '../../base/document/document.ts';
import { isOnPath } from './on-path.ts';
import { OPENCLAW, type Behaviours } from './openclaw/behaviours.ts';
import { inHome, openClawEnvironment } from './openclaw/environment.ts';
import { grafted, putOver, type Graft } from './openclaw/graft.ts';
import { importOpenClaw, type ImportedConfig, type ImportOptions } from './openclaw/import.ts';
import { expandIncludes } from './openclaw/includes.ts';
import { readSecretRefs } from './openclaw/secret-refs.ts';
import { agentIds } from './openclaw/translate-agents.ts';
import { gatewayChannels } from './openclaw/translate-channels.ts';
import {
  isOpenClawFile,
  type OwnSettings,
  translateOpenClaw,
  type Translation,
} from './openclaw/translate.ts';
import { gmailRunDefaults } from './openclaw/translate-gmail.ts';
import type { BesideSettings, InlineMapping } from './settings.ts';
import type { ConfigFacts } from './finding-facts.ts';

export interface ReadConfigOptions {
  readonly open?: OpenTexts | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly needSecrets: boolean;
  readonly cwd: string;
  /** Default: whether the command openclaw is on PATH. */
  readonly hasCommand?: boolean;
}

/** A configuration in our own shape, before references are resolved and the schema has judged it. */
export interface ReadConfig extends BesideSettings {
  readonly root: LocatedValue;
  /** The file as written, for places of findings that other modules make. */
  readonly original: LocatedValue;
  readonly behaviours: Behaviours;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Secrets besides `gateway.token` that no hook token may equal. */
  readonly reserved: readonly LocatedValue[];
}

export interface ReadResult {
  readonly read?: ReadConfig;
  readonly findings: readonly Finding[];
}

/** Reads a configuration file: one of ours, which may extend an OpenClaw file, or an OpenClaw file itself. */
export function readConfig(file: string, options: ReadConfigOptions): Promise<ReadResult> {
  return isOpenClawFile(file) ? readOpenClaw(file, options) : readOwn(file, options);
}

async function readOwn(file: string, options: ReadConfigOptions): Promise<ReadResult> {
  const { document, findings } = await readDocument(file, {
    cwd: options.cwd,
    ...(options.open && { open: options.open }),
    isOpenClaw: THEIR_NAME.test(basename(file)),
  });
  if (document === undefined) return { findings: findings.map(ofOtherFile) };
  const { root } = document;
  const foreign = findForeign(root, file);
  if (foreign !== undefined) return { findings: [foreign] };
  const own = ownConfig(file, document, options);
  const name = root.at(['extends']);
  if (name.value === undefined) return { read: own, findings };
  const has = {
    runner: root.at(['gateway', 'runner']).value !== undefined,
    port: root.at(['server', 'port']).value !== undefined,
  };
  const base = await readBase(name, { file, has }, options);
  const all = [...findings, ...base.findings];
  return { read: base.read === undefined ? own : extended(own, base.read), findings: all };
}

/** What a file of ours says by itself. */
function ownConfig(
  file: string,
  { root, source }: { readonly root: LocatedValue; readonly source: SourceText },
  { env }: ReadConfigOptions,
): ReadConfig {
  return {
    root,
    original: root,
    behaviours: {},
    inlineMappings: mappingsOf(root, {}),
    runDefaults: {},
    openclawChannels: [],
    reserved: [],
    env,
    secrets: [],
    files: [file],
    sha256: createHash('sha256').update(source.text).digest('hex'),
  };
}

async function readBase(
  name: LocatedValue,
  { file, has }: { readonly file: string; readonly has: OwnSettings },
  options: ReadConfigOptions,
): Promise<ReadResult> {
  if (typeof name.value !== 'string' || !isOpenClawFile(name.value)) {
    const message = 'extends must be the path of a file named openclaw.json or openclaw.json5';
    return { findings: [unreadable(name, message)] };
  }
  const path = resolve(dirname(file), inHome(name.value, options.env['HOME'] ?? '~'));
  const base = await readOpenClaw(path, options, has);
  if (base.read !== undefined) return base;
  return { findings: [...base.findings, unreadable(name, 'the file it names cannot be used')] };
}

function unreadable(name: LocatedValue, message: string): Finding {
  const hint = say`correct the path, which is relative to this file, or begins with ~/`;
  return findingAt(name.place([]), { code: 'EXTENDS_UNREADABLE', message: quoted(message), hint });
}

/** The Sluice file overrides the gateway's file, and its mappings come first. */
function extended(own: ReadConfig, base: ReadConfig): ReadConfig {
  const grafts: Graft[] = [];
  const { extends: _, ...above } = own.root.value as Readonly<Record<string, unknown>>;
  const value = putOver(grafts, [], { below: base.root.value, above, source: own.root });
  return {
    ...base,
    root: grafted(value, grafts, base.root),
    original: own.original,
    inlineMappings: [...own.inlineMappings, ...base.inlineMappings],
    files: [...own.files, ...base.files],
    sha256: createHash('sha256').update(own.sha256).update(base.sha256).digest('hex'),
  };
}

async function readOpenClaw(
  file: string,
  options: ReadConfigOptions,
  has: OwnSettings = { runner: false, port: false },
): Promise<ReadResult> {
  const { document, findings } = await readDocument(file, { cwd: options.cwd, isOpenClaw: true });
  if (document === undefined) return { findings };
  const { findings: ofParts, ...expanded } = await expandOpenClaw(document.root, file, options);
  const { original, env } = expanded;
  const { hasCommand = isOnPath('openclaw', env['PATH']) } = options;
  const context = { directory: dirname(file), env, hasCommand, has };
  const translation = translateOpenClaw(original, context);
  const read = translatedConfig(expanded, translation);
  return { read, findings: [...findings, ...ofParts, ...translation.findings] };
}

/** What the file itself gives, before it is translated. */
type ExpandedFile = Pick<ReadConfig, 'original' | 'env' | 'secrets' | 'files' | 'sha256'>;

/** Puts in what the file includes, and its secrets. */
async function expandOpenClaw(
  root: LocatedValue,
  file: string,
  { cwd, env: given, needSecrets }: ReadConfigOptions,
): Promise<ExpandedFile & { readonly findings: readonly Finding[] }> {
  const included = await expandIncludes(root, { file, cwd, env: given });
  const { env, files } = await openClawEnvironment(included.root, file, given);
  const { value, secrets, ...read } = await readSecretRefs(included.root, { file, env, needSecrets });
  return {
    original: grafted(value, [], included.root),
    env,
    secrets,
    files: [file, ...included.files, ...files, ...read.files],
    sha256: createHash('sha256').update(JSON.stringify(included.root.value)).digest('hex'),
    findings: [...included.findings, ...read.findings],
  };
}

function translatedConfig(expanded: ExpandedFile, { root, reserved }: Translation): ReadConfig {
  const { original } = expanded;
  return {
    ...expanded,
    root,
    reserved,
    behaviours: OPENCLAW,
    inlineMappings: mappingsOf(original, OPENCLAW),
    runDefaults: gmailRunDefaults(original),
    openclawAgents: agentIds(original),
    openclawChannels: gatewayChannels(original),
  };
}

function mappingsOf(root: LocatedValue, behaviours: Behaviours): readonly InlineMapping[] {
  const { value } = root.at(['hooks', 'mappings']);
  if (!Array.isArray(value)) return [];
  return value.map((_, index) => ({ value: root.at(['hooks', 'mappings', index]), behaviours }));
}

/** Reads an OpenClaw file for `sluice import openclaw` and writes it in our words; absent where it has errors. */
export async function importOpenClawFile(
  file: string,
  { into, ...options }: Pick<ReadConfigOptions, 'env' | 'cwd'> & Pick<ImportOptions, 'into'>,
): Promise<{ readonly imported?: ImportedConfig; readonly findings: readonly Finding[] }> {
  const { read, findings } = await readOpenClaw(file, { ...options, needSecrets: true, hasCommand: true });
  if (read === undefined || findings.some(({ severity }) => severity === 'error')) return { findings };
  return { imported: importOpenClaw(read, { into, env: options.env, findings }), findings };
}

/** A configuration that is found without being named. */
const OWN_NAME = /^sluice\.(?:yaml|json)$/;

/** Names that people give to the file of an OpenClaw gateway, older ones too. */
const THEIR_NAME = /^(?:openclaw|clawdbot|moltbot)\b.*\.json5?$/;
/** Keys that only its gateway has, and keys that only we have. */
const THEIR_KEYS: readonly Path[] = [
  'gateway.auth',
  'gateway.bind',
  'gateway.mode',
  'hooks.gmail',
  'agents.list',
].map((key) => key.split('.'));
const OUR_KEYS: readonly Path[] = [
  ['server'],
  ['storage'],
  ['extends'],
  ['gateway', 'runner'],
  ['gateway', 'runners'],
];

/** Whether a file of another name is that of an OpenClaw gateway. */
function isTheirFile(root: LocatedValue, file: string): boolean {
  const has = (path: Path): boolean => root.at(path).value !== undefined;
  const name = basename(file);
  if (OWN_NAME.test(name) || !/\.json5?$/.test(name) || OUR_KEYS.some(has)) return false;
  return THEIR_NAME.test(name) ? has(['hooks']) : THEIR_KEYS.some(has);
}

/** A file that holds something else than a configuration. */
function findForeign(root: LocatedValue, file: string): Finding | undefined {
  if (isTheirFile(root, file))
    return findingAt(firstLine(root), {
      code: 'NOT_A_CONFIGURATION',
      message: say`this is the file of an OpenClaw gateway, which is read as one under the name openclaw.json`,
      hint: say`call it openclaw.json, or run "sluice import openclaw ${root.place([]).source.file}", which writes it as files of Sluice`,
    });
  const kind = documentKind(root.value);
  if (kind === undefined || kind === 'configuration') return undefined;
  const isOwn = OWN_NAME.test(basename(file));
  // Keys of the configuration that are indented too little, or are of an older form, are findings of their own.
  if (isOwn && kind !== 'mapping file') return undefined;
  return findingAt(firstLine(root), {
    code: 'NOT_A_CONFIGURATION',
    message: say`this is ${nameOfKind(kind)}, and a configuration is expected here`,
    facts: { kind, isOwn } satisfies ConfigFacts['NOT_A_CONFIGURATION'],
  });
}

/** A finding about a file that cannot be a configuration at all; what such a file is for is another matter here. */
function ofOtherFile(found: Finding): Finding {
  if (found.code !== 'FILE_IS_DIRECTORY' && found.code !== 'UNKNOWN_FORMAT') return found;
  const { hint: _, ...rest } = found;
  return rest;
}
