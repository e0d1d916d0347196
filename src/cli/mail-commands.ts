import { InvalidArgumentError, Option, type Command } from 'commander';
import { collect, wholeNumber, type Cli } from './command-line.ts';
import type { MailRunFlags, MailSelectionFlags } from './mail-tasks.ts';
import type { MailSetupFlags } from './mail-questions.ts';
import type { MailProviderName } from '../mail/mail.ts';

/** `sluice webhooks mail …`: the mailbox source. */
export function addMailCommands(program: Command, cli: Cli): void {
  const webhooks = program.command('webhooks').description('other sources of hooks: a mailbox');
  const mail = webhooks.command('mail').description('a mailbox whose messages become hooks');
  addSetup(mail, cli);
  cli
    .withConfig(
      mail
        .command('run')
        .description(
          'read the mailbox in a process of its own; a running service gets every message over HTTP',
        ),
    )
    .option('--against <url>', 'address of the service (default: from the configuration)')
    .option('--since <date>', 'where the first run begins, in place of now', readDate)
    .action(async (flags: MailRunFlags) => (await import('./mail-tasks.ts')).runMail(cli, flags));
  addStatus(mail, cli);
  addRefusedMail(mail, cli);
}

function addStatus(mail: Command, cli: Cli): void {
  cli
    .withConfig(mail.command('status').description('show how reading goes, per folder'))
    .option('--json', 'one JSON array on stdout')
    .action(async (flags: MailSelectionFlags) => (await import('./mail-tasks.ts')).showMail(cli, flags));
}

/** The commands for messages that the service refused. */
function addRefusedMail(mail: Command, cli: Cli): void {
  addRefusedList(mail, cli);
  addRefusedChanges(mail, cli);
}

function addRefusedList(mail: Command, cli: Cli): void {
  cli
    .withConfig(
      mail.command('list').description('list the messages that the service refused, with the reason'),
    )
    .option('--json', 'one JSON array on stdout')
    .option('--limit <n>', 'how many, oldest first', wholeNumber(1, 1_000_000), 100)
    .option('--no-text', 'leave sender and subject out')
    .action(async (flags: MailSelectionFlags & { limit: number }) =>
      (await import('./mail-tasks.ts')).listMail(cli, flags),
    );
}

/** Retry and drop. */
function addRefusedChanges(mail: Command, cli: Cli): void {
  const selection = (command: Command): Command =>
    cli.withConfig(command).option('--all', 'all of them').option('--json', 'a JSON object on stdout');
  selection(mail.command('retry [ids...]').description('deliver refused messages again')).action(
    async (ids: string[], flags: MailSelectionFlags) =>
      (await import('./mail-tasks.ts')).retryMail(cli, ids, flags),
  );
  selection(
    mail.command('drop [ids...]').description('forget refused messages; they stay in the mailbox'),
  ).action(async (ids: string[], flags: MailSelectionFlags) =>
    (await import('./mail-tasks.ts')).dropMail(cli, ids, flags),
  );
}

/** Written here too, since the command line starts without loading what it runs. */
const PROVIDERS = [
  'gmail',
  'outlook',
  'fastmail',
  'icloud',
  'yahoo',
  'imap',
  'gmail-api',
] as const satisfies readonly MailProviderName[];

function addSetup(mail: Command, cli: Cli): void {
  const command = mail
    .command('setup')
    .description('connect a mailbox: asks what it needs, tests the connection, writes hooks.mail');
  withPubSub(withReading(withServer(cli.withConfig(command))))
    .option('--dry-run', 'test the connection and show what would be written')
    .option('--json', 'what was written, as a JSON object without secrets; asks nothing')
    .action(async (flags: MailSetupFlags) => (await import('./mail-setup.ts')).setUpMail(cli, flags));
}

/** Where the mailbox is, and how to log in. */
function withServer(command: Command): Command {
  return command
    .addOption(new Option('--provider <name>', 'where the mailbox is').choices(PROVIDERS))
    .option('--account <address>', 'address of the mailbox')
    .option('--host <name>', 'IMAP server, for the provider imap')
    .option('--port <n>', 'port of the IMAP server', wholeNumber(1, 65_535))
    .addOption(new Option('--security <kind>', 'how it is encrypted').choices(['tls', 'starttls', 'none']))
    .option('--user <name>', 'name to log in with, where it is not the address')
    .addOption(new Option('--auth <kind>', 'how to log in').choices(['password', 'oauth2']))
    .option('--password-file <file>', 'file with the password; - reads it from standard input')
    .option('--client-id <id>', 'OAuth2 client, from the console of the provider')
    .option('--client-secret-file <file>', 'file with the secret of the OAuth2 client');
}

/** Which messages are read, and which hook they become. */
function withReading(command: Command): Command {
  return command
    .option('--folder <name>', 'folder to read (repeatable; default INBOX)', collect)
    .option('--from <address>', 'only mail from this address or @domain (repeatable)', collect)
    .option('--subject <text>', 'only mail whose subject contains this (repeatable)', collect)
    .option('--since <date>', 'where the first run begins, in place of now', readDate)
    .option('--hook-path <name>', 'hook name to deliver to (default mail)');
}

/** How notices of new mail come, for the provider gmail-api. */
function withPubSub(command: Command): Command {
  return command
    .option('--topic <name>', 'Pub/Sub topic, for the provider gmail-api')
    .option('--subscription <name>', 'pull subscription of the topic, for the provider gmail-api')
    .option('--push-audience <text>', 'audience of a push subscription, in place of a pull subscription')
    .option('--push-account <address>', 'service account that the push subscription calls with');
}

function readDate(text: string): string {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text) || Number.isNaN(Date.parse(text))) {
    throw new InvalidArgumentError('expected a date such as 2026-11-01');
  }
  return text;
}
