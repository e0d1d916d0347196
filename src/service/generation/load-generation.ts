import { defined } from '../../base/json.ts';
import { findRefusedKeys } from './refused-keys.ts';
import { createHash } from 'node:crypto';
import { dirname } from 'node:path';
import {
  createReferenceReader,
  type HooksSettings,
  loadConfig,
  type LoadedConfig,
  type ReferenceReader,
  type RemainingConfig,
  mappingReferences,
} from '../../engine/config/config.ts';
import type { Finding, OpenTexts } from '../../base/document/document.ts';
import type { IgnoredFinding } from '../../base/ignored.ts';
import {
  catalogWithoutPlugins,
  findChannelModule,
  knownChannels,
  loadChannelCatalog,
  recipientProblem,
  withChannels,
  type ChannelCatalog,
} from '../channels/channels.ts';
import { findMergedConversations, findUnresumed } from './conversations.ts';
import { createEvaluationSettings } from './evaluation-settings.ts';
import type { GenerationSubjects } from './facts.ts';
import { findGatewayProblems } from './gateway-findings.ts';
import { runnerSubjects } from './runner-safety.ts';
import { findTakenNoticePath, withNoticePath } from './notice-path.ts';
import { findMissingUrl } from './proof-listing.ts';
import { findRecoveries, type PathRecoveries } from './recoveries.ts';
import { reportFindings, type Advise } from './report-findings.ts';
import { createEvaluator, type Evaluate } from '../../engine/hook/hook.ts';
import {
  loadMappings,
  withoutMappings,
  type CompiledMapping,
  type LoadedMappings,
  type RoutingTable,
} from '../../engine/mapping/mapping.ts';
import {
  inOrder,
  otherKey,
  type ReadSenders,
  readSenders,
  type Sender,
  sendersDir,
} from '../../engine/senders/senders.ts';
import type { Sandbox, TransformRef, Transforms } from '../../engine/sandbox/sandbox.ts';

/**
 * Configuration, mappings and transforms as one immutable thing with one hash: it goes live whole or not at all, and
 * every request is evaluated with the one that was live when it began.
 */
export interface Generation {
  /** The first 12 hex digits of the SHA-256 over everything that went in, secrets' values excluded. */
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly loadedAt: number;
  readonly config: LoadedConfig;
  readonly table: RoutingTable;
  readonly transforms: Transforms;
  readonly channelCatalog: ChannelCatalog;
  /** Paths whose sender is asked for what it could not deliver. */
  readonly recoveries: PathRecoveries['recoveries'];
  /** Mapping files as they were read, presets included, and the files of senders of the user. */
  readonly files: LoadedMappings['files'];
  /** The text behind a reference in a mapping; undefined where it is not set. */
  readonly readReference: ReferenceReader['read'];
  /** Files and folders whose change makes another generation; absolute. */
  readonly watchedPaths: readonly string[];
  readonly evaluate: Evaluate;
}

export interface GenerationOptions {
  readonly env: NodeJS.ProcessEnv;
  /** False for check, explain, test and diff: they work where the secrets are not. */
  readonly needSecrets: boolean;
  /** `sluice dev`: a missing hook token is no error. */
  readonly dev?: boolean;
  readonly sandbox: Sandbox;
  /** Folders that stand in for those of the configuration, and what names of their files are relative to. */
  readonly folders?: { readonly mappingsDir?: string; readonly transformsDir?: string; readonly cwd: string };
  /** The texts that are open in an editor, and what was parsed before. */
  readonly open?: OpenTexts;
  /** A generation whose loaded transforms are used again where mappings name them with the same settings. */
  readonly reuse?: Pick<Generation, 'table' | 'transforms'>;
  /** For an editor, which shows the rest meanwhile: no transform is loaded anew, and what would call one fails. */
  readonly withoutTransforms?: boolean;
  /** Whether plugins, which run with all rights of this process, may be loaded; default: none is. */
  readonly mayLoadPlugins?: (config: LoadedConfig) => boolean | Promise<boolean>;
  /** Says what to do about findings; they refuse the same without it. */
  readonly advise?: Advise;
  /** For a service: advice is asked only where there is a finding, so that a start without one never loads it. */
  readonly isServing?: boolean;
}

export interface LoadedGeneration {
  /** Absent where there is any error. */
  readonly generation?: Generation;
  readonly findings: readonly Finding[];
  /** Warnings that their files say are meant. */
  readonly ignored: readonly IgnoredFinding[];
}

/** What was loaded, also where there are errors. */
interface LoadingResult extends LoadedGeneration {
  /** Absent where the configuration itself could not be read. */
  readonly transforms?: { readonly dir: string; readonly refs: readonly TransformRef[] };
  /** Absent where the configuration itself could not be read. */
  readonly hooks?: HooksSettings;
}

/** Loads and compiles everything the configuration names; all findings at once. */
export async function loadGeneration(file: string, options: GenerationOptions): Promise<LoadingResult> {
  const { config, findings, remaining, secrets = [] } = await loadConfig(file, options);
  if (config === undefined) {
    const more = remaining === undefined ? undefined : await loadRemaining(remaining, options.sandbox);
    const all = [...findings, ...(more?.findings ?? [])];
    return reportFindings(all, more?.subjects ?? [], { ...options, secrets });
  }
  const loaded = await loadParts(config, options);
  const { references, mappings, transformsDir: dir } = loaded;
  const found = [...findings, ...findProblems(loaded, options.needSecrets)];
  const generation = createWhole(loaded, found);
  // No generation has them, so nobody else lets go of them.
  if (generation === undefined && loaded.transforms !== options.reuse?.transforms)
    loaded.transforms.release();
  const subjects = [
    {
      kind: 'generation',
      config,
      catalog: loaded.channelCatalog,
      mappings: mappings.table?.mappings ?? [],
    } satisfies GenerationSubjects['generation'],
    ...mappings.subjects,
    ...runnerSubjects(config, options.env),
  ];
  return {
    ...defined({ generation }),
    ...(await reportFindings(found, subjects, {
      ...options,
      secrets: [...config.secrets, ...references.secrets],
    })),
    transforms: { dir, refs: mappings.transforms },
    hooks: config.settings.hooks,
  };
}

interface LoadedParts {
  readonly config: LoadedConfig;
  readonly channelCatalog: ChannelCatalog;
  readonly references: ReferenceReader;
  readonly senders: ReadSenders;
  readonly mappings: LoadedMappings;
  readonly transformsDir: string;
  readonly transforms: Transforms;
  readonly recovering: PathRecoveries;
}

async function loadParts(config: LoadedConfig, options: GenerationOptions): Promise<LoadedParts> {
  const directory = dirname(config.file);
  const { plugins, channels } = config.settings;
  const loadsAll = plugins.length === 0 || (await options.mayLoadPlugins?.(config)) === true;
  const loaded = loadsAll ? await loadChannelCatalog(plugins, directory) : catalogWithoutPlugins(channels);
  const channelCatalog = withChannels(loaded, config.openclawChannels, 'only the gateway has this channel');
  const references = createReferenceReader({ env: options.env, directory });
  const { hooks } = config.settings;
  const senders = await readSenders(config.file, {
    ...hooks,
    mappingsDir: options.folders?.mappingsDir ?? hooks.mappingsDir,
  });
  const mappings = await compile(config, channelCatalog, { ...options, references, senders });
  const transformsDir = options.folders?.transformsDir ?? config.settings.hooks.transformsDir;
  const transforms = await openTransforms(mappings.transforms, transformsDir, options);
  const recovering = findRecoveries(mappings.table, () => inOrder(senders));
  for (const { settings } of recovering.recoveries.values()) references.read(settings.token);
  return { config, channelCatalog, references, senders, mappings, transformsDir, transforms, recovering };
}

function findProblems(
  { config, channelCatalog, senders, mappings: { table, findings }, transforms, recovering }: LoadedParts,
  needSecrets: boolean,
): readonly Finding[] {
  const mappings = table?.mappings ?? [];
  return [
    ...findGatewayProblems(config, channelCatalog, mappings, needSecrets),
    ...findMergedConversations(config, mappings),
    ...findUnresumed(config, mappings),
    ...findMissingUrl(config, mappings),
    ...findTakenNoticePath(config, { mappings }),
    ...senders.findings,
    ...recovering.findings,
    ...findings,
    ...transforms.findings,
    ...findRefusedKeys(config, mappings, transforms.code),
  ];
}

function createWhole(parts: LoadedParts, found: readonly Finding[]): Generation | undefined {
  const { config, channelCatalog, references, senders, mappings, transforms } = parts;
  const contained = containTransforms(mappings, transforms);
  const isFatal = (finding: Finding): boolean =>
    isError(finding) && !mappings.contained.has(finding) && !contained.findings.has(finding);
  const { table } = contained;
  if (table === undefined || found.some(isFatal)) return undefined;
  const whole: OwnParts = {
    // References of mappings bring further secrets for the log and files to watch.
    config: {
      ...config,
      secrets: [...config.secrets, ...references.secrets],
      files: [...config.files, ...references.files],
    },
    channelCatalog,
    table: withNoticePath(table, config.settings.hooks.mail),
    transforms,
    readReference: references.read,
    recoveries: parts.recovering.recoveries,
  };
  return createGeneration(whole, [...mappings.files, ...senders.files]);
}

/** The transforms of the generation before where nothing has changed, else newly loaded ones. */
async function openTransforms(
  refs: readonly TransformRef[],
  dir: string,
  options: GenerationOptions,
): Promise<Transforms> {
  const { folders, sandbox, withoutTransforms = false } = options;
  return (
    reusable(options, refs) ??
    (await sandbox.loadTransforms(
      dir,
      withoutTransforms ? [] : refs,
      folders?.transformsDir === undefined ? {} : { cwd: folders.cwd },
    ))
  );
}

/**
 * A transform of an OpenClaw file that cannot be loaded takes only its mappings out. In ours, or where it is not known
 * whose an error is, the table stays as it is and the error counts for the whole.
 */
function containTransforms(
  { table }: LoadedMappings,
  { findings, hashes }: Transforms,
): { readonly table: RoutingTable | undefined; readonly findings: ReadonlySet<Finding> } {
  const errors = findings.filter(isError);
  if (table === undefined || errors.length === 0) return { table, findings: new Set() };
  const isBroken = ({ transform }: CompiledMapping): boolean =>
    transform !== undefined &&
    (!hashes.has(transform.module) || errors.some(({ at }) => at?.start === transform.at.start));
  const broken = table.mappings.filter(isBroken);
  if (broken.length === 0 || broken.some(({ behaviours }) => !behaviours.toleratesMistakes)) {
    return { table, findings: new Set() };
  }
  return { table: withoutMappings(table, new Set(broken)), findings: new Set(errors) };
}

/** Loads mappings and transforms also where the configuration has errors, so that all findings come at once. */
async function loadRemaining(
  remaining: RemainingConfig,
  sandbox: Sandbox,
): Promise<Pick<LoadedMappings, 'findings' | 'subjects'>> {
  const { inlineMappings: inline } = remaining;
  // A plugin that is not loaded here may bring the channel.
  const mappings = await loadMappings({ ...remaining, inline, presets: [], channels: 'any' });
  const transforms = await sandbox.loadTransforms(remaining.transformsDir, mappings.transforms);
  transforms.release();
  return {
    findings: [...mappings.findings, ...transforms.findings],
    subjects: mappings.subjects,
  };
}

const isError = (finding: Finding): boolean => finding.severity === 'error';

type TransformOptions = Pick<GenerationOptions, 'folders' | 'needSecrets' | 'open'> & {
  readonly references: ReferenceReader;
  readonly senders: ReadSenders;
};

function compile(
  config: LoadedConfig,
  catalog: ChannelCatalog,
  { folders, references, senders, needSecrets, open }: TransformOptions,
): Promise<LoadedMappings> {
  const { hooks, agents, gateway } = config.settings;
  const usual = gateway.runners['default'];
  let known: readonly Sender[] | undefined;
  return loadMappings({
    inline: config.inlineMappings,
    presets: hooks.presets,
    mappingsDir: folders?.mappingsDir ?? hooks.mappingsDir,
    ...(folders?.mappingsDir !== undefined && { cwd: folders.cwd }),
    models: agents.defaults.models,
    aliases: agents.defaults.aliases,
    channels: knownChannels(catalog),
    runners: Object.keys(gateway.runners),
    // `gateway.runner: {kind: claude}` names an agent.
    defaultRunner: usual?.kind === 'agent' ? usual.agent : usual?.kind,
    workFolders: Object.keys(gateway.workFolders),
    agents: Object.keys(hooks.agents.runners),
    hooksPath: hooks.path,
    lenient: hooks.lenient,
    sessionKeys: hooks.sessionKeys,
    otherKey,
    senders: () => (known ??= inOrder(senders)),
    hasToken: (channel) => config.settings.channels[channel]?.['token'] !== undefined,
    ...(open && { open }),
    recipientProblem: (channel, to) => recipientProblem(catalog, channel, to),
    hasThreads: (channel) => (findChannelModule(catalog, channel)?.hasThreads ?? catalog.isPartial) === true,
    messageField: (channel) =>
      findChannelModule(catalog, channel)?.messageField ?? (catalog.isPartial === true ? '' : undefined),
    ...mappingReferences(references, needSecrets),
  });
}

/** Transforms of another generation, where the mappings name exactly these. */
function reusable(
  { reuse, folders }: GenerationOptions,
  refs: readonly TransformRef[],
): Transforms | undefined {
  if (reuse === undefined || folders?.transformsDir !== undefined) return undefined;
  const nameOf = ({ at: _at, ...ref }: TransformRef): string => JSON.stringify(ref);
  const there = new Set(
    reuse.table.mappings.flatMap(({ transform }) => (transform === undefined ? [] : [nameOf(transform)])),
  );
  return refs.every((ref) => there.has(nameOf(ref))) ? reuse.transforms : undefined;
}

type OwnParts = Omit<Generation, 'id' | 'loadedAt' | 'files' | 'watchedPaths' | 'evaluate'>;

function createGeneration(parts: OwnParts, files: LoadedMappings['files']): Generation {
  const { config, transforms } = parts;
  const { hooks } = config.settings;
  return {
    ...parts,
    files,
    id: idOf(parts, files),
    loadedAt: Date.now(),
    watchedPaths: [...config.files, hooks.mappingsDir, sendersDir(hooks), hooks.transformsDir],
    evaluate: createEvaluator(createEvaluationSettings(parts), transforms),
  };
}

function idOf({ config, transforms }: OwnParts, files: LoadedMappings['files']): string {
  const hash = createHash('sha256').update(config.sha256);
  for (const { text } of files) hash.update('\0').update(text);
  for (const [module, sha256] of transforms.hashes) hash.update(`\0${module}\0${sha256}`);
  return hash.digest('hex').slice(0, 12);
}
