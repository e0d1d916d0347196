import {
  acceptStore,
  openStorage,
  storeStatus,
  type Backlog,
  copyStorage,
} from '../../../engine/storage/storage.ts';
import {
  failoverPromise,
  isoTimes,
  type LockWait,
  type ServerFacts,
  type StoreStatus,
  type StoreUser,
  type CopyReport,
} from '../../../engine/storage/facts.ts';
import { formatSpan } from '../../../base/telemetry/telemetry.ts';
import type { Cli } from '../command-line.ts';
import { loadSettings, type ConfigFlags, type JsonFlags } from '../config-file.ts';
import { printJson } from '../json.ts';
import { knownStoreOf } from './known-store.ts';
import { useStore } from './store-tasks.ts';
import { CliError, type Terminal } from '../terminal.ts';
import { openWorkbench } from '../authoring/workbench.ts';
import { sqliteUrl } from '../../../engine/config/config.ts';

/** Prints where the store is, what it promises, and who uses it. */
export async function printStorageStatus(cli: Cli, flags: JsonFlags): Promise<void> {
  const { settings } = await loadSettings(cli.terminal, flags);
  const { url } = settings.storage;
  const status = await storeStatus(url);
  const isNewest = status.version === status.newest;
  const backlog = isNewest ? await useStore(url, (storage) => storage.backlog()) : undefined;
  if (flags.json === true) {
    return printJson(cli.terminal, 'storage status', {
      store: { ...status, services: status.services.map((user) => isoTimes(user, 'startedAt')) },
      ...(backlog === undefined ? {} : { backlog: isoTimes(backlog, 'oldestQueuedAt', 'oldestDeadAt') }),
    });
  }
  for (const line of statusLines(status, backlog)) cli.terminal.out(line);
}

function statusLines(status: StoreStatus, backlog: Backlog | undefined): readonly string[] {
  const { place, services, copyOf } = status;
  return [
    `store     ${place}`,
    `schema    ${schemaLine(status)}`,
    ...(status.server === undefined ? [] : serverLines(status.server)),
    ...(copyOf === undefined
      ? []
      : [
          `copy      ${copyOf} is being copied into this store; no service starts on the store before that has ended`,
        ]),
    ...(services.length === 0 ? ['services  none'] : services.map((user) => `service   ${userLine(user)}`)),
    ...(backlog === undefined ? [] : [`work      ${workLine(backlog)}`]),
    ...(status.waiting ?? []).map((wait) => `waits     ${waitLine(wait)}`),
  ];
}

function waitLine({ waits, waitedMs, holds, heldMs, isIdle }: LockWait): string {
  const doing = isIdle ? ', in which it does nothing' : '';
  return `${clientName(waits)} has waited ${formatSpan(waitedMs)} for ${clientName(holds)}, in a transaction for ${formatSpan(heldMs)}${doing}`;
}

function clientName({ pid, program, address }: LockWait['waits']): string {
  const where = address === undefined ? '' : ` at ${address}`;
  return `process ${pid} (${program === '' ? 'unnamed' : program}${where})`;
}

function workLine(backlog: Backlog): string {
  const { queuedRuns, activeRuns, deadRuns, queuedOutbox, activeOutbox, deadOutbox } = backlog;
  const runs = `${queuedRuns} runs queued, ${activeRuns} active, ${deadRuns} dead`;
  return `${runs}; ${queuedOutbox} deliveries and callbacks queued, ${activeOutbox} active, ${deadOutbox} dead`;
}

function schemaLine({ version, newest }: StoreStatus): string {
  if (version === 0) return 'there is no store yet; the first start makes it, or "sluice storage migrate"';
  if (version === newest) return `version ${version}, up to date`;
  if (version > newest) return `version ${version}; this Sluice knows up to ${newest}`;
  return `version ${version}, to be brought to ${newest} by the next start, or by "sluice storage migrate"`;
}

function serverLines(server: ServerFacts): readonly string[] {
  const { version, isPooled } = server;
  return [
    `server    PostgreSQL ${version}, ${isPooled ? 'through a pooler' : 'direct'}`,
    `promise   ${promiseOf(server)}`,
    `failover  ${failoverPromise(server)}`,
  ];
}

function promiseOf({ fsync, synchronousCommit }: ServerFacts): string {
  if (fsync === 'off') return 'fsync is off: accepted work is lost when the server loses power';
  const note = synchronousCommit === 'off' ? ' (Sluice turns synchronous_commit on)' : '';
  return `what was accepted is on disk there${note}`;
}

function userLine({ id, role, host, version, startedAt, leaseLeftMs = 0, isLeader }: StoreUser): string {
  const parts = [
    `${id}  ${role}`,
    ...(host === undefined ? [] : [`on ${host}`]),
    ...(version === undefined || version === '' ? [] : [`version ${version}`]),
    ...(startedAt === undefined ? [] : [`for ${formatSpan(Date.now() - startedAt)}`]),
    ...(isLeader === true ? ['leads'] : []),
    ...(leaseLeftMs < 0 ? ['its lease has ended'] : []),
  ];
  return parts.join(', ');
}

/** Makes the store, or brings its schema up to date; refused while services use it. Or only accepts what is there. */
export async function migrateStore(
  cli: Cli,
  flags: ConfigFlags & { readonly accept?: boolean },
): Promise<void> {
  if (flags.accept === true) return acceptStoreFound(cli, flags);
  await using bench = await openWorkbench(cli.terminal, flags);
  const { url } = bench.generation.config.settings.storage;
  const before = await storeStatus(url);
  const opened = await openStorage(url, {
    mode: 'performer',
    onWarning: cli.terminal.err,
  });
  await opened.close();
  const { version, place } = await storeStatus(url);
  cli.terminal.out(
    before.version === version
      ? `${place}: version ${version}, already up to date`
      : `${place}: migrated from version ${before.version} to ${version}`,
  );
}

/** Accepts what the database has now as the store of the configuration. */
async function acceptStoreFound({ terminal }: Cli, flags: ConfigFlags): Promise<void> {
  const { settings, file } = await loadSettings(terminal, flags);
  const known = knownStoreOf(file, terminal.env);
  const id = await acceptStore(settings.storage.url, known.file);
  terminal.out(
    id === undefined
      ? 'the database holds no store: the next start makes one'
      : `the store ${id} is accepted as it is now; start the service again`,
  );
}

export async function copyStore(
  { terminal }: Cli,
  from: string,
  to: string,
  { json }: JsonFlags,
): Promise<void> {
  const report = await copyStorage(urlOf(from, terminal), urlOf(to, terminal), {
    onProgress: (table, rows) => {
      if (terminal.interactive) terminal.err(`${table}: ${rows}`);
    },
  });
  if (json === true) printJson(terminal, 'storage copy', report);
  else terminal.out(formatReport(report));
}

function formatReport({ rows, from, to, wasResumed }: CopyReport): string {
  const copied = Object.entries(rows).filter(([table, count]) => count > 0 && table !== 'counters');
  return [
    ...copied.map(([table, count]) => `${table}  ${count}`),
    `copied ${from} into ${to}${wasResumed ? ', going on where it had stopped' : ''}; now change storage.url, and start no service on the source again`,
  ].join('\n');
}

/** A reference keeps the password out of the list of processes and of the shell's history. */
function urlOf(text: string, { env, cwd }: Terminal): string {
  const name = /^\$\{(\w+)\}$/.exec(text)?.[1];
  const url = name === undefined ? text : (env[name] ?? '');
  if (url === '') throw new CliError(`the environment variable ${name ?? ''} is not set`, 2);
  return sqliteUrl(url, cwd) ?? url;
}
