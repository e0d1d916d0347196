import { Option, type Command } from 'commander';
import { wholeNumber, type Cli } from './command-line.ts';
import type { JsonFlags } from './config-file.ts';
import type { SelectionOptions } from './queue.ts';
import type { ListFlags, SessionFlags } from './store-tasks.ts';

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

/** Loaded when a command runs, so that the command line starts at once. */
const tasks = () => import('./store-tasks.ts');

function addListings(program: Command, cli: Cli): void {
  addEvents(program, cli);
  addRuns(program, cli);
  addRequests(program, cli);
}

/** The options that all listings have. */
function withListing(command: Command, cli: Cli, states: readonly string[]): Command {
  return cli
    .withConfig(command)
    .option('--json', 'one JSON array on stdout')
    .option('--limit <n>', 'how many, newest first', wholeNumber(1, 1_000_000), 100)
    .option('--no-text', 'leave out of the JSON the texts that come from payloads')
    .addOption(new Option('--state <state>', 'only this state').choices(states));
}

function addEvents(program: Command, cli: Cli): void {
  const command = program.command('events').description('list system events of the main session');
  withListing(command, cli, EVENT_STATES)
    .option('--mapping <id>', 'only this mapping')
    .action(async (flags: ListFlags) => (await tasks()).listEvents(cli, flags));
}

function addRuns(program: Command, cli: Cli): void {
  const command = program.command('runs [id]').description('list agent runs, or explain one');
  const kind = new Option('--kind <kind>', 'only runs of hooks, or turns of the main session');
  withListing(command, cli, RUN_STATES)
    .option('--mapping <id>', 'only this mapping')
    .option('--session <key>', 'only this session key')
    .addOption(kind.choices(['hook', 'heartbeat']))
    .action(async (id: string | undefined, flags: ListFlags) =>
      id === undefined
        ? (await tasks()).listRuns(cli, flags)
        : (await import('./explain.ts')).explainById(cli, id, flags),
    );
}

function addRequests(program: Command, cli: Cli): void {
  const command = program
    .command('requests')
    .description('list the last requests: what each became, or why no mapping matched');
  withListing(command, cli, DECISION_STATES)
    .option('--mapping <id>', 'only this mapping')
    .action(async (flags: ListFlags) => {
      const { requestsListing } = await import('./listings.ts');
      await (await tasks()).list(cli, flags, requestsListing);
    });
}

function addQueue(program: Command, cli: Cli): void {
  const queue = program.command('queue').description('work that waits, is under way, or was given up');
  addQueueList(queue, cli);
  addQueueShow(queue, cli);
  addQueueChanges(queue, cli);
  addQueuePause(queue, cli);
  addQueueResume(queue, cli);
  addQueuePrune(queue, cli);
}

function addQueueList(queue: Command, cli: Cli): void {
  const command = queue
    .command('list', { isDefault: true })
    .description('list this work, with age, attempts, next try and last error');
  withListing(command, cli, QUEUE_STATES)
    .option('--mapping <id>', 'only work of this mapping')
    .action(async (flags: ListFlags) => (await tasks()).listQueue(cli, flags));
}

function addQueueShow(queue: Command, cli: Cli): void {
  cli
    .withConfig(queue.command('show <id>').description('show everything about one run, delivery or callback'))
    .option('--json', 'a JSON object on stdout')
    .option('--no-text', 'leave out the texts that come from payloads')
    .action(async (id: string, flags: JsonFlags & { text: boolean }) => {
      const { showWork } = await import('./queue.ts');
      const { withStore } = await tasks();
      await withStore(cli, flags, (storage) => showWork(storage, cli.terminal, id, flags));
    });
}

type Change = SelectionOptions & { config?: string };

/** Retry and drop. */
function addQueueChanges(queue: Command, cli: Cli): void {
  const selection = (command: Command): Command =>
    cli
      .withConfig(command)
      .option('--mapping <id>', 'all of this mapping')
      .option('--error <code>', 'all whose last error has this code, such as exit_1')
      .option('--all', 'all of it')
      .option('--json', 'a JSON object on stdout');
  const retry = 'run failed or dead work again, and waiting work now; a run keeps how it ended before';
  selection(queue.command('retry [ids...]').description(retry))
    .option('--dry-run', 'list what would be tried again, and change nothing')
    .action((ids: string[], flags: Change) => retryQueue(cli, ids, flags));
  const drop = 'remove waiting or dead work; the main session gets a summary of each run';
  selection(queue.command('drop [ids...]').description(drop))
    .option('-y, --yes', 'do not ask')
    .action((ids: string[], flags: Change) => dropQueue(cli, ids, flags));
}

async function retryQueue(cli: Cli, ids: readonly string[], flags: Change): Promise<void> {
  const { parseSelection, retryWork } = await import('./queue.ts');
  const chosen = parseSelection(ids, flags);
  const { withStore } = await tasks();
  const work = withStore(cli, flags, (storage, { gateway }) =>
    retryWork(storage, cli.terminal, chosen, { ...flags, defaultRunner: gateway.runner }),
  );
  await noteInVain(cli, flags, work);
}

/** Work of a mapping was asked for in vain: says where no mapping has that id. */
async function noteInVain(cli: Cli, flags: Change, work: Promise<void>): Promise<void> {
  try {
    await work;
  } catch (error) {
    const { NothingChanged } = await import('./queue.ts');
    if (error instanceof NothingChanged)
      await (await import('./mapping-filter.ts')).noteUnknownMapping(cli, flags, flags.mapping);
    throw error;
  }
}

async function dropQueue(cli: Cli, ids: readonly string[], flags: Change): Promise<void> {
  const { dropWork, parseSelection } = await import('./queue.ts');
  const chosen = parseSelection(ids, flags);
  const { withStore } = await tasks();
  const work = withStore(cli, flags, (storage) => dropWork(storage, cli.terminal, chosen, flags));
  await noteInVain(cli, flags, work);
}

function addQueuePause(queue: Command, cli: Cli): void {
  cli
    .withConfig(queue.command('pause [mapping]').description('begin no further run of a mapping, or of any'))
    .option('--json', 'a JSON object on stdout')
    .action(async (mapping: string | undefined, flags: Change) => {
      const { pauseQueue } = await import('./queue-waits.ts');
      const { withStore } = await tasks();
      await withStore(cli, flags, (storage) => pauseQueue(storage, cli.terminal, mapping, flags));
      await (await import('./mapping-filter.ts')).noteUnknownMapping(cli, flags, mapping);
    });
}

function addQueueResume(queue: Command, cli: Cli): void {
  cli
    .withConfig(queue.command('resume [mapping]').description('end the pause of a mapping, or every pause'))
    .option('--json', 'a JSON object on stdout')
    .action(async (mapping: string | undefined, flags: Change) => {
      const { resumeQueue } = await import('./queue-waits.ts');
      const { withStore } = await tasks();
      await withStore(cli, flags, (storage) => resumeQueue(storage, cli.terminal, mapping, flags));
    });
}

function addQueuePrune(queue: Command, cli: Cli): void {
  cli
    .withConfig(
      queue.command('prune').description('remove now the completed work that storage.keep does not keep'),
    )
    .option('--json', 'a JSON object on stdout')
    .action(async (flags: JsonFlags) => (await tasks()).pruneStore(cli, flags));
}

function addSessions(program: Command, cli: Cli): void {
  const sessions = program.command('sessions').description('conversations by session key');
  addSessionsList(sessions, cli);
  cli
    .withConfig(sessions.command('show <key>').description('print the stored turns of a session'))
    .option('--json', 'one JSON array on stdout')
    .option('--owner <owner>', 'whose session, where several owners have the key')
    .action(async (key: string, flags: SessionFlags) => (await tasks()).showSession(cli, key, flags));
  cli
    .withConfig(
      sessions.command('clear <key>').description('forget a session; its next run starts a new conversation'),
    )
    .option('--owner <owner>', 'whose session, where several owners have the key')
    .action(async (key: string, flags: SessionFlags) => (await tasks()).clearSession(cli, key, flags));
}

function addSessionsList(sessions: Command, cli: Cli): void {
  cli
    .withConfig(
      sessions.command('list', { isDefault: true }).description('list sessions with their size and last use'),
    )
    .option('--json', 'one JSON array on stdout')
    .option('--limit <n>', 'how many, newest first', wholeNumber(1, 1_000_000), 100)
    .action(async (flags: ListFlags) => {
      const { sessionsListing } = await import('./listings.ts');
      await (await tasks()).list(cli, { ...flags, text: true }, sessionsListing);
    });
}

function addStorage(program: Command, cli: Cli): void {
  const storage = program
    .command('storage')
    .description('where the store is and who uses it; back it up, restore it, check it');
  addStorageState(storage, cli);
  addStorageBackup(storage, cli);
  addStorageCopy(storage, cli);
  addStorageRestore(storage, cli);
  cli
    .withConfig(storage.command('verify').description("check the store's integrity"))
    .action(async (flags: JsonFlags) => (await tasks()).verifyStore(cli, flags));
}

/** Status and migrate. */
function addStorageState(storage: Command, cli: Cli): void {
  const status = 'show where the store is, what it promises, and which services use it';
  cli
    .withConfig(storage.command('status', { isDefault: true }).description(status))
    .option('--json', 'a JSON object on stdout')
    .action(async (flags: JsonFlags) => (await import('./storage-tasks.ts')).printStorageStatus(cli, flags));
  const migrate = 'make the store, or bring it up to date, while no service uses it';
  cli
    .withConfig(storage.command('migrate').description(migrate))
    .action(async (flags: JsonFlags) => (await import('./storage-tasks.ts')).migrateStore(cli, flags));
}

function addStorageBackup(storage: Command, cli: Cli): void {
  cli
    .withConfig(
      storage.command('backup <file>').description('copy the store into a new file while it is in use'),
    )
    .action(async (file: string, flags: JsonFlags) => (await tasks()).backupStore(cli, file, flags));
}

function addStorageCopy(storage: Command, cli: Cli): void {
  storage
    .command('copy <from> <to>')
    .description('copy all work into an empty store of either kind, while no service uses one of them')
    .option('--json', 'a JSON object on stdout')
    .action(async (from: string, to: string, flags: JsonFlags) =>
      (await import('./storage-copy.ts')).copyStore(cli, from, to, flags),
    );
}

function addStorageRestore(storage: Command, cli: Cli): void {
  const description = 'put a copy in the place of the store, which is kept under another name';
  cli
    .withConfig(storage.command('restore <file>').description(description))
    .option('--json', 'a JSON object on stdout')
    .action(async (file: string, flags: JsonFlags) =>
      (await import('./restore.ts')).restore(cli, file, flags),
    );
}
