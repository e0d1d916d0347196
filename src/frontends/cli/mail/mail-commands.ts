import { InvalidArgumentError } from 'commander';
import {
  collect,
  CONFIG,
  type CommandTable,
  JSON_OUTPUT,
  type OptionRow,
  wholeNumber,
} from '../command-line.ts';

const SINCE: OptionRow = [
  '--since <date>',
  'where the first run begins, in place of now',
  { read: readDate },
];
const ALL: OptionRow = ['--all', 'all of them'];

function readDate(text: string): string {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text) || Number.isNaN(Date.parse(text))) {
    throw new InvalidArgumentError('expected a date such as 2026-11-01');
  }
  return text;
}

import { MAIL_PROVIDERS } from './providers.ts';

const SERVER: readonly OptionRow[] = [
  ['--provider <name>', 'where the mailbox is', { choices: Object.keys(MAIL_PROVIDERS) }],
  ['--account <address>', 'address of the mailbox'],
  ['--host <name>', 'IMAP server, for the provider imap'],
  ['--port <n>', 'port of the IMAP server', { read: wholeNumber(1, 65_535) }],
  ['--security <kind>', 'how it is encrypted', { choices: ['tls', 'starttls', 'none'] }],
  ['--user <name>', 'name to log in with, where it is not the address'],
  ['--auth <kind>', 'how to log in', { choices: ['password', 'oauth2'] }],
  ['--password-file <file>', 'file with the password; - reads it from standard input'],
  ['--client-id <id>', 'OAuth2 client, from the console of the provider'],
  ['--client-secret-file <file>', 'file with the secret of the OAuth2 client'],
];

const READING: readonly OptionRow[] = [
  ['--folder <name>', 'folder to read (repeatable; default INBOX)', { read: collect }],
  ['--from <address>', 'only mail from this address or @domain (repeatable)', { read: collect }],
  ['--subject <text>', 'only mail whose subject contains this (repeatable)', { read: collect }],
  SINCE,
  ['--hook-path <name>', 'hook name to deliver to (default mail)'],
];

const PUB_SUB: readonly OptionRow[] = [
  ['--topic <name>', 'Pub/Sub topic, for the provider gmail-api'],
  ['--subscription <name>', 'pull subscription of the topic, for the provider gmail-api'],
  ['--push-audience <text>', 'audience of a push subscription, in place of a pull subscription'],
  ['--push-account <address>', 'service account that the push subscription calls with'],
];

const mailCommands: CommandTable = {
  setup: {
    about: 'connect a mailbox: asks what it needs, tests the connection, writes hooks.mail',
    options: [
      CONFIG,
      ...SERVER,
      ...READING,
      ...PUB_SUB,
      ['--dry-run', 'test the connection and show what would be written'],
      ['--json', 'what was written, as a JSON object without secrets; asks nothing'],
    ],
    load: async () => (await import('./mail-setup.ts')).setUpMail,
  },
  run: {
    about: 'read the mailbox in a process of its own; a running service gets every message over HTTP',
    options: [CONFIG, ['--against <url>', 'address of the service (default: from the configuration)'], SINCE],
    load: async () => (await import('./mail-tasks.ts')).runMail,
  },
  status: {
    about: 'show how reading goes, per folder',
    options: [CONFIG, JSON_OUTPUT],
    load: async () => (await import('./mail-tasks.ts')).showMail,
  },
  list: {
    about: 'list the messages that the service refused, with the reason',
    options: [
      CONFIG,
      JSON_OUTPUT,
      ['--limit <n>', 'how many, oldest first', { read: wholeNumber(1, 1_000_000), fallback: 100 }],
      ['--no-text', 'leave sender and subject out'],
    ],
    load: async () => (await import('../operating/store-tasks.ts')).listRefusedMail,
  },
  'retry [ids...]': {
    about: 'deliver refused messages again',
    options: [CONFIG, ALL, JSON_OUTPUT],
    load: async () => (await import('../operating/queue.ts')).retryMail,
  },
  'drop [ids...]': {
    about: 'forget refused messages; they stay in the mailbox',
    options: [CONFIG, ALL, JSON_OUTPUT],
    load: async () => (await import('../operating/queue.ts')).dropMail,
  },
};

export const sourceCommands: CommandTable = {
  webhooks: {
    about: 'other sources of hooks: a mailbox',
    commands: {
      mail: { about: 'a mailbox whose messages become hooks', commands: mailCommands },
    },
  },
};
