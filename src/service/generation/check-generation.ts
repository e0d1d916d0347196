import { dirname, resolve } from 'node:path';
import { plural } from '../../base/finding.ts';
import { defined } from '../../base/json.ts';
import { createReferenceReader } from '../../engine/config/config.ts';
import { keptSettings } from './kept-settings.ts';
import type { KeptKind } from '../../engine/mapping/mapping.ts';
import { byWeight, type Finding } from '../../base/document/document.ts';
import { readSenders } from '../../engine/senders/senders.ts';
import { type Typecheck, typecheckTransforms, type TypecheckOptions } from '../../engine/sandbox/sandbox.ts';
import { listConversations } from './conversations.ts';
import {
  loadGeneration,
  type Generation,
  type GenerationOptions,
  type LoadedGeneration,
} from './load-generation.ts';
import { noticePath } from './notice-path.ts';
import { listProofs } from './proof-listing.ts';

export interface GenerationCheck {
  readonly findings: readonly Finding[];
  /** Warnings that a comment in their file says are meant. */
  readonly ignored: LoadedGeneration['ignored'];
  /** How much was checked. */
  readonly summary: string;
  /** Who may write into which conversation; for people. */
  readonly conversations: readonly string[];
  readonly proofs: readonly string[];
  /** What was loaded; absent where there are errors. */
  readonly generation?: Generation;
  /** What the store does not promise; for people. */
  readonly notes: readonly string[];
  /** The compiler that checked the types of transforms. */
  readonly compiler?: NonNullable<Typecheck['compiler']>;
}

/** What `sluice check` says: everything that loading finds, and what the type checker says of the transforms. */
export async function checkGeneration(file: string, options: GenerationOptions): Promise<GenerationCheck> {
  const { findings: loaded, ignored, generation, transforms, hooks } = await loadGeneration(file, options);
  // Findings on the user's own senders are reported with the rest.
  const senders = hooks === undefined ? [] : (await readSenders(file, hooks)).packageFindings;
  const findings = [...loaded, ...((await options.advise?.(senders, [])) ?? senders)];
  if (transforms === undefined) return { findings, ignored, summary: '', ...NOTHING_TO_TELL };
  const types = await typecheckTransforms(
    transforms.dir,
    transforms.refs,
    typecheckOptions(file, options.env),
  );
  const mappings = generation?.table.mappings.length ?? 0;
  const modules = generation?.transforms.hashes.size ?? 0;
  return {
    findings: byWeight([...findings, ...types.findings]),
    ignored,
    summary: `${plural(mappings, 'mapping')}, ${plural(modules, 'transform module')}`,
    ...defined({ compiler: types.compiler }),
    ...(generation === undefined ? NOTHING_TO_TELL : describe(generation, options)),
  };
}

const typecheckOptions = (file: string, env: GenerationOptions['env']): TypecheckOptions => ({
  configDir: dirname(resolve(file)),
  isTrusted: env['SLUICE_TRUST'] !== 'no',
});

export async function checkTypes(
  { config, table }: Pick<Generation, 'config' | 'table'>,
  { file, env }: { readonly file: string; readonly env: GenerationOptions['env'] },
): Promise<readonly Finding[]> {
  const refs = table.mappings.flatMap(({ transform }) => transform ?? []);
  const dir = config.settings.hooks.transformsDir;
  return (await typecheckTransforms(dir, refs, typecheckOptions(file, env))).findings;
}

const NOTHING_TO_TELL = { conversations: [], proofs: [], notes: [] } as const;

/** What `check` says where there are no errors. */
function describe(
  generation: Generation,
  { env }: GenerationOptions,
): Pick<GenerationCheck, 'generation' | 'conversations' | 'proofs' | 'notes'> {
  const { config, table } = generation;
  const { storage, hooks } = config.settings;
  const isPostgres = /^postgres(?:ql)?:/.test(storage.url);
  const references = createReferenceReader({ env, directory: dirname(config.file) });
  const places = { hooksPath: hooks.path, noticePath: noticePath(hooks.mail) };
  return {
    generation,
    conversations: listConversations(config, table.mappings),
    proofs: listProofs(table, places, references.read),
    notes: [...(isPostgres ? [POSTGRES_NOTE] : []), keptNote(generation)],
  };
}

const POSTGRES_NOTE =
  'the store is in PostgreSQL: accepted work may be lost with the primary, unless synchronous_standby_names is set there ("sluice storage status" asks the database)';

/** Which requests `serve` keeps, and of which paths others. */
function keptNote({ config, table }: Generation): string {
  const { which, count, bytes, days } = keptSettings(config.settings.storage.keepRequests);
  const size = [
    ...(count === undefined ? [] : [`${count} at most`]),
    `${Math.round(bytes / 1_048_576)} MiB`,
    ...(days === undefined ? [] : [plural(days, 'day')]),
  ].join(', ');
  const own = [...table.paths].flatMap((path) => {
    const kept = table.settingsOf(path).keepRequests;
    return kept === undefined ? [] : [`${path}: ${KEPT[kept]}`];
  });
  return `requests that serve keeps: ${[KEPT[which], ...own].join('; ')}${which === 'none' ? '' : ` (${size})`}`;
}

const KEPT: Readonly<Record<KeptKind, string>> = {
  none: 'none',
  transforms: 'those whose transform failed',
  failed: 'those that were refused or failed',
  shapes: 'those that were refused or failed, and the shapes of accepted ones',
  all: 'all, whole',
};
