import type { Generation, PathRecovery } from '../../../service/generation/generation.ts';
import {
  askerOf,
  NOTHING,
  planRecovery,
  readState,
  type RecoveryReport,
  wantRecovery,
} from '../../../service/recovery/recovery.ts';
import type { Storage } from '../../../engine/storage/storage.ts';
import { isoTime } from '../../../engine/storage/facts.ts';
import { clearLine } from '../../../base/telemetry/telemetry.ts';
import { defined } from '../../../base/json.ts';
import { pause } from '../../../base/timers/timers.ts';
import { findSender, InterfaceError } from '../../../engine/senders/senders.ts';
import { openWorkbench } from '../authoring/workbench.ts';
import type { Cli } from '../command-line.ts';
import type { JsonFlags } from '../config-file.ts';
import { printJson, type RecoveredPath } from '../json.ts';
import { withOperator, withStore } from './store-tasks.ts';
import { CliError, type Terminal } from '../terminal.ts';

interface RecoverFlags extends JsonFlags {
  readonly since?: number;
  readonly dryRun?: boolean;
  readonly refused?: boolean;
}

/** How long a service may take until it begins. */
const BEGIN_MS = 20_000;
const POLL_MS = 500;
/** Says what senders could not deliver, or has the service ask for it and says what came of that. */
export async function recover(cli: Cli, name: string | undefined, flags: RecoverFlags): Promise<void> {
  await using workbench = await openWorkbench(cli.terminal, flags, { withoutTransforms: true });
  const { generation } = workbench;
  const paths = chosen(generation, name);
  for (const { maxAgeMs, path } of paths) {
    if (flags.since !== undefined && flags.since < Date.now() - maxAgeMs)
      throw new CliError(
        `recover of ${path} takes events that are up to ${maxAgeMs / 1000} seconds old: raise its maxAgeSeconds, and ttlSeconds of dedupe with it`,
        2,
      );
  }
  const done: RecoveredPath[] = [];
  for (const recovery of paths) {
    const report = flags.dryRun === true ? plan : perform;
    done.push(jsonOf(recovery, await report(cli, { generation, recovery, flags })));
  }
  if (flags.json === true) printJson(cli.terminal, 'recover', { paths: done });
  else for (const [index, each] of done.entries()) say(cli.terminal, each, { of: paths[index], flags });
  if (done.some(({ trouble }) => trouble !== undefined)) throw new CliError('not all could be recovered', 3);
  if (flags.dryRun !== true && done.some(({ came, toAsk }) => came < toAsk))
    throw new CliError('some have not come yet: they are asked for again, three times in all');
}

function chosen({ recoveries, table }: Generation, name: string | undefined): readonly PathRecovery[] {
  const found = [...recoveries.values()].filter(({ path }) => name === undefined || path === name);
  if (found.length > 0) return found;
  const sender = name === undefined ? undefined : findSender(name);
  if (sender !== undefined && sender.deliveries === undefined)
    throw new CliError(`${sender.title} keeps no log that can be asked`, 2);
  if (name !== undefined && !table.paths.has(name)) throw new CliError(`no mapping has the path ${name}`, 2);
  const line = "recover: { token: '${NAME}', target: … }";
  throw new CliError(
    `no path${name === undefined ? '' : ` ${name}`} asks its sender: add ${line} to a mapping of the path`,
    2,
  );
}

interface Job {
  readonly generation: Generation;
  readonly recovery: PathRecovery;
  readonly flags: RecoverFlags;
}

function plan(cli: Cli, { generation, recovery, flags }: Job): Promise<RecoveryReport> {
  return withStore(cli, flags, async (storage) => {
    const { since, refused = false } = flags;
    const wish = { id: '', refused, ...defined({ since }) };
    try {
      const state = readState(await rowOf(storage, recovery.path));
      const asker = askerOf(generation, recovery, new AbortController().signal);
      return (await planRecovery(asker, state, { storage, wish })).report;
    } catch (error) {
      if (!(error instanceof InterfaceError)) throw error;
      return { ...NOTHING, since: since ?? Date.now(), trouble: error.message };
    }
  });
}

const rowOf = async (storage: Storage, path: string): Promise<string> =>
  (await storage.listRecoveries()).find((row) => row.path === path)?.state ?? '';

/** The service asks, as it is there that the events come in. */
function perform(cli: Cli, { recovery: { path }, flags }: Job): Promise<RecoveryReport> {
  return withOperator(cli, flags, async (operator) => {
    const { since, refused = false } = flags;
    const id = await wantRecovery(operator, path, { refused, ...defined({ since }) });
    const begun = performance.now();
    let shown = '';
    for (;;) {
      const { last: report } = readState(await rowOf(operator.storage, path));
      const isOurs = report.wanted === id;
      if (isOurs && report.isEnded) return report;
      const isBusy = !report.isEnded;
      if (!isOurs && !isBusy && performance.now() - begun > BEGIN_MS)
        throw new CliError(
          'no service has begun with it: start one with "sluice serve", which does it then',
          3,
        );
      const progress =
        isOurs && report.asked > 0 ? `${report.asked} of ${report.toAsk} asked for, ${report.came} came` : '';
      if (cli.terminal.interactive && progress !== shown) cli.terminal.err(progress);
      shown = progress;
      await pause(POLL_MS);
    }
  });
}

function jsonOf({ path, sender }: PathRecovery, report: RecoveryReport): RecoveredPath {
  const { wanted: _wanted, isEnded: _isEnded, since, ...counts } = report;
  return { path, sender: sender.name, since: isoTime(since), ...counts };
}

function say(
  terminal: Terminal,
  { since, events, missed, toAsk, asked, came, started, gaveUp, trouble }: RecoveredPath,
  { of, flags }: { readonly of: PathRecovery | undefined; readonly flags: RecoverFlags },
): void {
  const title = clearLine(of?.sender.title ?? '');
  if (trouble !== undefined) terminal.err(trouble);
  if (flags.dryRun === true) {
    const how = of?.sender.deliveries.redeliver === undefined ? 'fetched' : 'sent again';
    terminal.out(`${title} could not deliver ${missed} of ${events} since ${since}. ${toAsk} can be ${how}.`);
    return;
  }
  const lost = gaveUp === 0 ? '' : `, ${gaveUp} given up`;
  terminal.out(
    `${asked} asked for again, ${came} came: ${started} started something, ${came - started} did not${lost}   (sluice requests --recovered)`,
  );
}
