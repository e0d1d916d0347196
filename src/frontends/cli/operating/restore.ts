import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { defined } from '../../../base/json.ts';
import { restoreStorage } from '../../../engine/storage/storage.ts';
import { formatSpan } from '../../../base/telemetry/telemetry.ts';
import type { Cli } from '../command-line.ts';
import { loadSettings, type JsonFlags } from '../config-file.ts';
import { isoTimes, type OpenWork, type RestoreReport } from '../../../engine/storage/facts.ts';
import { printJson, type Outputs } from '../json.ts';
import { type Column, formatRows } from './listings.ts';
import { CliError } from '../terminal.ts';

const MAX_NAMED = 50;

/** Puts a copy in the place of the store, and says what that means for work under way. */
export async function restore({ terminal }: Cli, file: string, flags: JsonFlags): Promise<void> {
  const { settings } = await loadSettings(terminal, flags);
  const path = resolve(terminal.cwd, file);
  if (!existsSync(path))
    throw new CliError(`there is no file ${file}; "sluice storage backup FILE" makes a copy`, 2);
  const report = await restoreStorage(settings.storage.url, path);
  if (flags.json === true) printJson(terminal, 'storage restore', reportToJson(report));
  else terminal.out(describe(file, report));
}

function reportToJson({ waiting, before, ...rest }: RestoreReport): Outputs['storage restore'] {
  const dated = (work: readonly OpenWork[]) => work.map((each) => isoTimes(each, 'since'));
  const report = { ...rest, waiting: dated(waiting) };
  if (before === undefined) return report;
  const { file, unfinished } = before;
  return { ...report, before: { file, ...defined({ unfinished: unfinished && dated(unfinished) }) } };
}

function describe(file: string, { schema, newestSchema, waiting, before }: RestoreReport): string {
  const isOlder = schema < newestSchema;
  const remover = isOlder ? 'The "sluice queue drop" of the older Sluice' : '"sluice queue drop"';
  return [
    `restored ${file} (schema ${schema})`,
    ...describeBefore(before),
    ...(isOlder
      ? [
          `It is of an older schema: start the Sluice that wrote it, or this one, which brings it to ${newestSchema}.`,
        ]
      : []),
    waiting.length === 0
      ? 'Nothing waits in the restored store.'
      : `When the service starts, it performs what waits in the restored store, also what was done since the copy was made. ${remover} removes it first, if need be:\n${listWork(waiting)}`,
  ].join('\n');
}

function describeBefore(before: RestoreReport['before']): readonly string[] {
  if (before === undefined) return [];
  const { file, unfinished } = before;
  const kept = `The store that was here is kept as ${file}.`;
  if (unfinished === undefined) return [kept, 'What it holds could not be read.'];
  if (unfinished.length === 0) return [kept, 'It holds no unfinished work.'];
  return [kept, `It holds work that has not ended, which this store does not know:\n${listWork(unfinished)}`];
}

function listWork(work: readonly OpenWork[]): string {
  const more = work.length - MAX_NAMED;
  const table = formatRows(COLUMNS, work.slice(0, MAX_NAMED));
  return more <= 0 ? table : `${table}\n  and ${more} more`;
}

const KINDS = { run: 'run', outbox: 'delivery', event: 'event' } as const;

const COLUMNS: readonly Column<OpenWork>[] = [
  ['  kind', ({ kind }) => `  ${KINDS[kind]}`],
  ['state', ({ state, endedSince }) => (endedSince === true ? 'done since' : state)],
  ['id', ({ id }) => id],
  ['mapping', ({ mappingId }) => (mappingId === '' ? '-' : mappingId)],
  ['age', ({ since }, nowMs) => formatSpan(nowMs - since)],
];
