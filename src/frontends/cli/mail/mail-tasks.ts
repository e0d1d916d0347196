import type { MailBlock, Settings } from '../../../engine/config/config.ts';
import { httpEndpoint, mailboxReport, MailProcess, type MailboxReport } from '../../../service/mail/mail.ts';
import { openStorage } from '../../../engine/storage/storage.ts';
import { createHealth, createLogger, formatSpan, type Log } from '../../../base/telemetry/telemetry.ts';
import type { Cli } from '../command-line.ts';
import { loadSettings, type ConfigFlags, type JsonFlags } from '../config-file.ts';
import { isoTimes } from '../../../engine/storage/facts.ts';
import { printJson } from '../json.ts';
import { type Column, formatRows } from '../operating/listings.ts';
import { findTarget } from '../running/send.ts';
import { withStore } from '../operating/store-tasks.ts';
import { CliError } from '../terminal.ts';

export interface MailRunFlags extends ConfigFlags {
  readonly against?: string;
  readonly since?: string;
}

/** Reads the mailbox until the process is stopped, and delivers to the service over HTTP. */
export async function runMail(cli: Cli, flags: MailRunFlags): Promise<void> {
  const { settings, secrets } = await loadSettings(cli.terminal, flags, { needSecrets: true });
  const { mail } = settings.hooks;
  if (mail === undefined)
    throw new CliError(
      'the configuration has no mailbox: write hooks.mail with "sluice webhooks mail setup"',
      2,
    );
  const target = await findTarget(cli, flags);
  const log = openLog(settings, [...secrets, target.token]);
  const store = await openStorage(settings.storage.url, { mode: 'attached' });
  const sinceMs = flags.since === undefined ? undefined : Date.parse(flags.since);
  const health = createHealth({ log });
  const service = new MailProcess({ mail, store, endpoint: httpEndpoint(target), log, health, sinceMs });
  try {
    log.info({ account: mail.account, folders: mail.folders, service: target.url }, 'reading mail');
    await cli.terminal.untilInterrupted();
  } finally {
    await service.stop();
    await store.close();
    log.flush();
  }
}

/** The log hides secrets. */
function openLog(settings: Settings, secrets: readonly string[]): Log {
  const log = createLogger();
  log.adopt(settings.log);
  for (const secret of secrets) log.protect(secret);
  return log;
}

/** Shows how reading goes, as the reader wrote it into the store. */
export async function showMail(cli: Cli, flags: JsonFlags): Promise<void> {
  const { settings } = await loadSettings(cli.terminal, flags);
  const { mail } = settings.hooks;
  const nowMs = Date.now();
  const reports = await withStore(cli, flags, async (storage) =>
    (await storage.listMailboxes()).map((record) => mailboxReport(record, nowMs)),
  );
  if (flags.json === true)
    printJson(cli.terminal, 'webhooks mail status', {
      mailboxes: reports.map((each) => isoTimes(each, 'since', 'retryAt', 'lastMailAt')),
    });
  else if (reports.length === 0) cli.terminal.out(neverRead(mail));
  else cli.terminal.out(formatRows(MAILBOX_COLUMNS, reports));
  if (reports.some(({ state }) => BAD.has(state))) cli.setExitCode(1);
}

/** No mail arrives in these states. */
const BAD: ReadonlySet<MailboxReport['state']> = new Set([
  'backing-off',
  'authentication-dead',
  'misconfigured',
  'held',
  'not-running',
]);

const MAILBOX_COLUMNS: readonly Column<MailboxReport>[] = [
  ['mailbox', ({ mailbox }) => mailbox],
  ['state', ({ state }) => state],
  ['for', ({ since }, nowMs) => formatSpan(nowMs - since)],
  ['delivered', ({ delivered }) => String(delivered)],
  ['set aside', ({ setAside }) => String(setAside)],
  ['filtered', ({ filtered }) => String(filtered)],
  ['last mail', ({ lastMailAt }, nowMs) => (lastMailAt === undefined ? '-' : ago(lastMailAt, nowMs))],
  [
    '',
    ({ reason = '', retryAt }, nowMs) =>
      retryAt === undefined ? reason : `${reason} (next try in ${formatSpan(retryAt - nowMs)})`,
  ],
];

const ago = (at: number, nowMs: number): string => `${formatSpan(nowMs - at)} ago`;

function neverRead(mail: MailBlock | undefined): string {
  return mail === undefined
    ? 'no mailbox is configured; "sluice webhooks mail setup" connects one'
    : 'the mailbox has not been read yet: start "sluice serve", or "sluice webhooks mail run" for a process of its own';
}
