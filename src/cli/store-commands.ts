import { Option, type Command } from 'commander';
import { wholeNumber, type Cli } from './command-line.ts';
import type { SelectionOptions } from './queue.ts';

interface ListFlags {
  readonly config?: string;
  readonly json?: boolean;
  readonly limit: number;
  readonly text?: boolean;
  readonly state?: string;
  readonly mapping?: string;
  readonly session?: string;
  readonly kind?: 'hook' | 'heartbeat';
}

const RUN_STATES = ['queued', 'active', 'completed', 'dead'] as const;
const EVENT_STATES = ['pending', 'claimed', 'consumed', 'dead'] as const;
/** What a decision came to stands where other listings have a state. */
const DECISION_STATES = ['accepted', 'skipped', 'rejected'] as const;
const QUEUE_STATES = ['queued', 'active', 'dead'] as const;

/** Commands that look into the store or change what waits in it, while a service may be running. */
export function addStoreCommands(program: Command, cli: Cli): void {
  addListings(program, cli);
  addQueue(program, cli);
  addSessions(program, cli);
  addStorage(program, cli);
}

function addListings(program: Command, cli: Cli): void {
  const listing = (name: string, description: string, states: readonly string[]): Command =>
    cli
      .withConfig(program.command(name).description(description))
      .option('--json', 'one JSON array on stdout')
      .option('--limit <n>', 'how many, newest first', wholeNumber(1, 1_000_000), 100)
      .option('--no-text', 'leave out of the JSON the texts that come from payloads')
      .addOption(new Option('--state <state>', 'only this state').choices(states))
      .option('--mapping <id>', 'only this mapping');
  listing('events', 'list system events of the main session', EVENT_STATES).action(
    async (flags: ListFlags) => {
      await (await import('./store-tasks.ts')).listEvents(cli, flags);
    },
  );
  listing('runs [id]', 'list agent runs, or explain one', RUN_STATES)
    .option('--session <key>', 'only this session key')
    .addOption(
      new Option('--kind <kind>', 'only runs of hooks, or turns of the main session').choices([
        'hook',
        'heartbeat',
      ]),
    )
    .action(async (id: string | undefined, flags: ListFlags) => {
      if (id !== undefined) {
        await (await import('./explain.ts')).explainStored(cli, id, flags);
        return;
      }
      const { runsListing } = await import('./listings.ts');
      await (await import('./store-tasks.ts')).list(cli, flags, runsListing);
    });
  listing(
    'requests',
    'list the last requests: what each became, or why no mapping matched',
    DECISION_STATES,
  ).action(async (flags: ListFlags) => {
    const { requestsListing } = await import('./listings.ts');
    await (await import('./store-tasks.ts')).list(cli, flags, requestsListing);
  });
}

function addQueue(program: Command, cli: Cli): void {
  const queue = program.command('queue').description('work that waits, is under way, or was given up');
  addQueueViews(queue, cli);
  addQueueChanges(queue, cli);
}

function addQueueViews(queue: Command, cli: Cli): void {
  cli
    .withConfig(
      queue
        .command('list', { isDefault: true })
        .description('list this work, with age, attempts, next try and last error'),
    )
    .option('--json', 'one JSON array on stdout')
    .option('--limit <n>', 'how many, newest first', wholeNumber(1, 1_000_000), 100)
    .option('--no-text', 'leave out of the JSON the texts that come from payloads')
    .addOption(new Option('--state <state>', 'only this state').choices(QUEUE_STATES))
    .option('--mapping <id>', 'only work of this mapping')
    .action(async (flags: ListFlags) => {
      await (await import('./store-tasks.ts')).listQueue(cli, flags);
    });
  cli
    .withConfig(queue.command('show <id>').description('show everything about one run, delivery or callback'))
    .option('--json', 'a JSON object on stdout')
    .option('--no-text', 'leave out the texts that come from payloads')
    .action(async (id: string, flags: { config?: string; json?: boolean; text: boolean }) => {
      const { showWork } = await import('./queue.ts');
      await (
        await import('./store-tasks.ts')
      ).withStore(cli, flags, (storage) => showWork(storage, cli.terminal, id, flags));
    });
}

/** Retry, drop and prune. */
function addQueueChanges(queue: Command, cli: Cli): void {
  type Change = SelectionOptions & { config?: string };
  const selection = (command: Command): Command =>
    cli
      .withConfig(command)
      .option('--mapping <id>', 'all of this mapping')
      .option('--all', 'all of it')
      .option('--json', 'a JSON object on stdout');
  selection(queue.command('retry [ids...]').description('try dead or waiting work again now')).action(
    async (ids: string[], flags: Change) => {
      const { parseSelection, retryWork } = await import('./queue.ts');
      const chosen = parseSelection(ids, flags);
      await (
        await import('./store-tasks.ts')
      ).withStore(cli, flags, (storage, { gateway }) =>
        retryWork(storage, cli.terminal, chosen, { ...flags, defaultRunner: gateway.runner }),
      );
    },
  );
  selection(
    queue
      .command('drop [ids...]')
      .description('remove waiting or dead work; the main session gets a summary of each run'),
  )
    .option('-y, --yes', 'do not ask')
    .action(async (ids: string[], flags: Change) => {
      const { dropWork, parseSelection } = await import('./queue.ts');
      const chosen = parseSelection(ids, flags);
      await (
        await import('./store-tasks.ts')
      ).withStore(cli, flags, (storage) => dropWork(storage, cli.terminal, chosen, flags));
    });
  const pausing = (command: Command): Command =>
    cli.withConfig(command).option('--json', 'a JSON object on stdout');
  pausing(
    queue.command('pause [mapping]').description('begin no further run of a mapping, or of any'),
  ).action(async (mapping: string | undefined, flags: Change) => {
    const { pauseQueue } = await import('./queue-waits.ts');
    await (
      await import('./store-tasks.ts')
    ).withStore(cli, flags, (storage) => pauseQueue(storage, cli.terminal, mapping, flags));
  });
  pausing(queue.command('resume [mapping]').description('end the pause of a mapping, or every pause')).action(
    async (mapping: string | undefined, flags: Change) => {
      const { resumeQueue } = await import('./queue-waits.ts');
      await (
        await import('./store-tasks.ts')
      ).withStore(cli, flags, (storage) => resumeQueue(storage, cli.terminal, mapping, flags));
    },
  );
  cli
    .withConfig(
      queue.command('prune').description('remove now the completed work that storage.keep does not keep'),
    )
    .option('--json', 'a JSON object on stdout')
    .action(async (flags: { config?: string; json?: boolean }) => {
      await (await import('./store-tasks.ts')).pruneStore(cli, flags);
    });
}

function addSessions(program: Command, cli: Cli): void {
  const sessions = program.command('sessions').description('conversations by session key');
  cli
    .withConfig(
      sessions.command('list', { isDefault: true }).description('list sessions with their size and last use'),
    )
    .option('--json', 'one JSON array on stdout')
    .option('--limit <n>', 'how many, newest first', wholeNumber(1, 1_000_000), 100)
    .action(async (flags: ListFlags) => {
      const { sessionsListing } = await import('./listings.ts');
      await (await import('./store-tasks.ts')).list(cli, { ...flags, text: true }, sessionsListing);
    });
  cli
    .withConfig(sessions.command('show <key>').description('print the stored turns of a session'))
    .option('--json', 'one JSON array on stdout')
    .option('--owner <owner>', 'whose session, where several owners have the key')
    .action(async (key: string, flags: { config?: string; json?: boolean; owner?: string }) => {
      await (await import('./store-tasks.ts')).showSession(cli, key, flags);
    });
  cli
    .withConfig(
      sessions.command('clear <key>').description('forget a session; its next run starts a new conversation'),
    )
    .option('--owner <owner>', 'whose session, where several owners have the key')
    .action(async (key: string, flags: { config?: string; owner?: string }) => {
      await (await import('./store-tasks.ts')).clearSession(cli, key, flags);
    });
}

function addStorage(program: Command, cli: Cli): void {
  const storage = program
    .command('storage')
    .description('where the store is and who uses it; back it up, restore it, check it');
  cli
    .withConfig(
      storage
        .command('status', { isDefault: true })
        .description('show where the store is, what it promises, and which services use it'),
    )
    .option('--json', 'a JSON object on stdout')
    .action(async (flags: { config?: string; json?: boolean }) => {
      await (await import('./storage-tasks.ts')).printStorageStatus(cli, flags);
    });
  cli
    .withConfig(
      storage
        .command('migrate')
        .description('make the store, or bring it up to date, while no service uses it'),
    )
    .action(async (flags: { config?: string }) => {
      await (await import('./storage-tasks.ts')).migrateStore(cli, flags);
    });
  cli
    .withConfig(
      storage.command('backup <file>').description('copy the store into a new file while it is in use'),
    )
    .action(async (file: string, flags: { config?: string }) => {
      await (await import('./store-tasks.ts')).backupStore(cli, file, flags);
    });
  storage
    .command('copy <from> <to>')
    .description('copy all work into an empty store of either kind, while no service uses one of them')
    .option('--json', 'a JSON object on stdout')
    .action(async (from: string, to: string, flags: { json?: boolean }) => {
      await (await import('./storage-copy.ts')).copyStore(cli, from, to, flags);
    });
  cli
    .withConfig(
      storage
        .command('restore <file>')
        .description('put a copy in the place of the store, which is kept under another name'),
    )
    .option('--json', 'a JSON object on stdout')
    .action(async (file: string, flags: { config?: string; json?: boolean }) => {
      await (await import('./restore.ts')).restore(cli, file, flags);
    });
  cli
    .withConfig(storage.command('verify').description("check the store's integrity"))
    .action(async (flags: { config?: string }) => {
      await (await import('./store-tasks.ts')).verifyStore(cli, flags);
    });
}
