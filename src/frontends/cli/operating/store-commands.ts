import { InvalidArgumentError } from 'commander';
import { CONFIG, type CommandTable, JSON_OUTPUT, type OptionRow, wholeNumber } from '../command-line.ts';

const RUN_STATES = ['queued', 'active', 'completed', 'dead'];
const EVENT_STATES = ['pending', 'claimed', 'consumed', 'dead'];
/** The outcome of a decision stands where other listings have a state. */
const DECISION_STATES = ['accepted', 'skipped', 'rejected'];
const QUEUE_STATES = ['queued', 'active', 'dead'];

const LIMIT: OptionRow = [
  '--limit <n>',
  'how many, newest first',
  { read: wholeNumber(1, 1_000_000), fallback: 100 },
];
const OF_MAPPING: OptionRow = ['--mapping <id>', 'only this mapping'];
const OF_RUNNER: OptionRow = [
  '--runner <name>',
  'all runs of this runner, and the main session where it has it',
];
const OF_OWNER: OptionRow = ['--owner <owner>', 'only of this owner, such as where several have the key'];

const listingOf = (states: readonly string[]): readonly OptionRow[] => [
  CONFIG,
  JSON_OUTPUT,
  LIMIT,
  ['--no-text', 'leave out of the JSON the texts that come from payloads'],
  ['--state <state>', 'only this state', { choices: states }],
  OF_MAPPING,
];

const SELECTION: readonly OptionRow[] = [
  CONFIG,
  ['--mapping <id>', 'all of this mapping'],
  ['--error <code>', 'all whose last error has this code, such as exit_1'],
  ['--all', 'all of it'],
  JSON_OUTPUT,
];

const UNITS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Reads a time, or how long ago it was. */
function readSince(text: string): number {
  const [, count, unit = ''] = /^(\d{1,4})([mhd])$/.exec(text) ?? [];
  const at = count === undefined ? Date.parse(text) : Date.now() - Number(count) * (UNITS[unit] ?? 0);
  if (Number.isNaN(at) || at > Date.now())
    throw new InvalidArgumentError(
      'expected a time such as 2026-11-01T08:00:00Z, or how long ago: 90m, 12h, 3d',
    );
  return at;
}

/** Commands that read the store or change what waits in it, while a service may be running. */
export const storeCommands: CommandTable = {
  events: {
    about: 'list system events of the main session',
    options: listingOf(EVENT_STATES),
    load: async () => (await import('./store-tasks.ts')).listEvents,
  },
  'runs [id]': {
    about: 'list agent runs, or explain one',
    options: [
      ...listingOf(RUN_STATES),
      ['--session <key>', 'only this session key'],
      [
        '--kind <kind>',
        'only runs of hooks, or turns of the main session',
        { choices: ['hook', 'heartbeat'] },
      ],
    ],
    load: async () => (await import('../authoring/explain.ts')).showRuns,
  },
  requests: {
    about: 'list the last requests: what each became, or why no mapping matched',
    options: [
      ...listingOf(DECISION_STATES),
      ['--recovered', 'only what was asked for again, because its sender could not deliver it'],
      ['--grouped', 'what somebody has to look at, by its cause: requests, runs and deliveries'],
    ],
    load: async () => (await import('./store-tasks.ts')).showRequests,
  },
  'recover [path]': {
    about: 'ask senders for what they could not deliver, where they keep a log',
    options: [
      CONFIG,
      JSON_OUTPUT,
      ['--since <time>', 'how far back, in place of the last complete look', { read: readSince }],
      ['--dry-run', 'say what would be asked for, and ask for nothing'],
      ['--refused', 'also what was refused here, such as with a wrong secret'],
    ],
    load: async () => (await import('./recover.ts')).recover,
  },
  costs: {
    about: 'what agents said their turns cost, by day (UTC), mapping and runner',
    options: [CONFIG, JSON_OUTPUT, LIMIT, OF_MAPPING],
    load: async () => (await import('./store-tasks.ts')).listCosts,
  },
  audit: {
    about: 'who changed what by the console or the command line',
    options: [CONFIG, JSON_OUTPUT, LIMIT],
    load: async () => (await import('./store-tasks.ts')).listAudit,
  },
  'approve <id>': {
    about: 'let a run begin that waits for an approval',
    options: [CONFIG, ['--deny', 'give it up instead'], JSON_OUTPUT],
    load: async () => (await import('./queue.ts')).approveRun,
  },
  queue: {
    about: 'work that waits, is under way, or was given up',
    commands: {
      'list [id]': {
        about: 'list this work, with age, attempts, next try and last error, or show all of one',
        isDefault: true,
        alias: 'show',
        options: listingOf(QUEUE_STATES),
        load: async () => (await import('./queue.ts')).showQueue,
      },
      'retry [ids...]': {
        about: 'run failed or dead work again, and waiting work now; a run keeps how it ended before',
        options: [...SELECTION, ['--dry-run', 'list what would be tried again, and change nothing']],
        load: async () => (await import('./queue.ts')).retryWork,
      },
      'drop [ids...]': {
        about: 'remove waiting or dead work; the main session gets a summary of each run',
        options: [
          ...SELECTION,
          ['--before <time>', 'all that came before this time (ISO 8601)'],
          ['-y, --yes', 'do not ask'],
        ],
        load: async () => (await import('./queue.ts')).dropWork,
      },
      'pause [mapping]': {
        about: 'begin no further run of a mapping, of a runner, or of any',
        options: [CONFIG, JSON_OUTPUT, OF_RUNNER],
        load: async () => (await import('./queue.ts')).pauseQueue,
      },
      'resume [mapping]': {
        about: 'end the pause of a mapping or a runner, or every pause',
        options: [CONFIG, JSON_OUTPUT, OF_RUNNER],
        load: async () => (await import('./queue.ts')).resumeQueue,
      },
    },
  },
  sessions: {
    about: 'conversations by session key',
    commands: {
      'list [key]': {
        about: 'list sessions with their size and last use, or print the stored turns of one',
        isDefault: true,
        alias: 'show',
        options: [CONFIG, JSON_OUTPUT, LIMIT, OF_OWNER],
        load: async () => (await import('./store-tasks.ts')).showSessions,
      },
      'clear <key>': {
        about: 'forget a session; its next run starts a new conversation',
        options: [CONFIG, OF_OWNER],
        load: async () => (await import('./store-tasks.ts')).clearSession,
      },
    },
  },
  conversation: {
    about: 'keys by which conversations are known',
    commands: {
      'add <key>': {
        about: 'let events with this key come to a conversation',
        options: [CONFIG, OF_OWNER, ['--conversation <key>', 'its session key, as "sessions list" shows it']],
        load: async () => (await import('./store-tasks.ts')).addConversationKey,
      },
    },
  },
  storage: {
    about: 'where the store is and who uses it; back it up, restore it, check it',
    commands: {
      status: {
        about: 'show where the store is, what it promises, and which services use it',
        isDefault: true,
        options: [CONFIG, JSON_OUTPUT],
        load: async () => (await import('./storage-tasks.ts')).printStorageStatus,
      },
      migrate: {
        about: 'make the store, or bring it up to date, while no service uses it',
        options: [
          CONFIG,
          [
            '--accept',
            'only take what the database holds now as the store, where a service refused an empty, another or an older one',
          ],
        ],
        load: async () => (await import('./storage-tasks.ts')).migrateStore,
      },
      'backup <file>': {
        about: 'copy the store into a new file while it is in use',
        options: [CONFIG],
        load: async () => (await import('./store-tasks.ts')).backupStore,
      },
      'copy <from> <to>': {
        about: 'copy all work into an empty store of either kind, while no service uses one of them',
        options: [JSON_OUTPUT],
        load: async () => (await import('./storage-tasks.ts')).copyStore,
      },
      'restore <file>': {
        about: 'put a copy in the place of the store, which is kept under another name',
        options: [CONFIG, JSON_OUTPUT],
        load: async () => (await import('./restore.ts')).restore,
      },
      verify: {
        about: "check the store's integrity",
        options: [CONFIG],
        load: async () => (await import('./store-tasks.ts')).verifyStore,
      },
    },
  },
};
