import {
  AGENTS,
  collect,
  CONFIG,
  type CommandTable,
  JSON_OUTPUT,
  type OptionRow,
  TUNNEL_TOOLS,
  wholeNumber,
} from '../command-line.ts';

const PORT = { read: wholeNumber(0, 65_535) };
const MAIL: OptionRow = ['--mail', 'read the mailbox of hooks.mail, too'];
const RECORD: OptionRow = ['--record <dir>', 'write every received request as a golden case'];
const MASK: OptionRow = [
  '--mask <place>',
  'mask the value at this place in records, e.g. payload.email (repeatable)',
  { read: collect, fallback: [] },
];

const LIST = { read: collect, fallback: [] } as const;

const LISTENER: readonly OptionRow[] = [
  CONFIG,
  ['--host <address>', 'listen on this address instead of server.host'],
  ['--port <n>', 'listen on this port instead of server.port; 0 takes a free port', PORT],
];

/** Commands that run the service or talk to a running one, in the order of the help. */
export const serviceCommands: CommandTable = {
  serve: {
    about: 'run the service: it needs a token, logs JSON, and reloads on SIGHUP',
    options: [
      ...LISTENER,
      [
        '--role <role>',
        'of several services on one PostgreSQL store: front takes hooks only, worker performs only (and is no "sluice worker"); default all',
        { choices: ['front', 'worker', 'all'] },
      ],
    ],
    load: async () => (await import('./serve.ts')).serve,
  },
  'worker <url> [command...]': {
    about: 'take runs of a service on another machine: ask for them, start an agent or a command (after --)',
    options: [
      ['--token-file <file>', 'a file that holds a token of the runner', { isNeeded: true }],
      ['--agent <name>', 'a coding agent in place of a command', { choices: AGENTS }],
      ['--access <level>', 'what the agent may do', { choices: ['read', 'edit', 'full'], fallback: 'read' }],
      ['--name <name>', 'the name that is shown for this worker (default: of this machine)'],
      [
        '--cwd <dir>',
        'where turns work (default: a private folder of each conversation; of a command: here)',
      ],
      ['--folder <name=path>', 'the folder that a mapping names with cwd (repeatable)', LIST],
      ['--pass-env <name>', 'a variable passed on to the command (repeatable)', LIST],
      ['--insecure', 'let the token and the prompts go over http:// to another machine'],
    ],
    load: async () => (await import('./worker.ts')).work,
  },
  dev: {
    about: 'run the service while you write mappings: readable log, reload on change, generated token',
    options: [
      ...LISTENER,
      RECORD,
      MASK,
      MAIL,
      [
        '--tunnel [tool]',
        'make the hooks reachable from the internet, by tailscale or cloudflared',
        { choices: TUNNEL_TOOLS },
      ],
      [
        '--register <target>',
        'a tunnel, and the webhook at the sender for this time, such as --register owner/name',
      ],
      ['--token-file <file>', 'with --register: a file that holds the access token'],
      ['--api <url>', 'with --register: the address of the interface, where it is your own'],
      ['--yes', 'with --register: do it without a question'],
      ['--no-keys', 'read no letters from the terminal'],
    ],
    load: async () => (await import('./dev.ts')).dev,
  },
  demo: {
    about: 'play four scenes on this machine in a minute: a stranger, a review, a crash, a worker',
    load: async () => (await import('./demo.ts')).demo,
  },
  'send <request>': {
    about: 'send a request file (path, headers, query, body) to a running service',
    options: [
      CONFIG,
      ['--against <url>', 'address of the service (default: from the configuration)'],
      JSON_OUTPUT,
      ['--sign', "sign each request as its path's sender would"],
      ['--sign-key <file>', 'PEM of a private key, where the path holds a public one'],
    ],
    load: async () => (await import('./send.ts')).send,
  },
  doctor: {
    about: 'look at the whole set-up on this machine: configuration, secrets, files, disk, clock',
    options: [CONFIG, JSON_OUTPUT],
    load: async () => (await import('../operating/doctor.ts')).doctor,
  },
  'verify <request>': {
    about: 'check whether a request file proves its sender as its path asks for, and say why not',
    options: [CONFIG, JSON_OUTPUT],
    load: async () => (await import('./verify-requests.ts')).verify,
  },
  record: {
    about:
      'receive requests and write each as a golden case, also where no mapping takes it; performs nothing unless asked',
    options: [
      CONFIG,
      ['--into <dir>', 'where the cases go (default test/golden next to the configuration)'],
      MASK,
      ['--port <n>', 'port to listen on', PORT],
      ['--perform', 'perform what requests become, in the store of the configuration, as sluice dev does'],
      MAIL,
    ],
    load: async () => (await import('./dev.ts')).record,
  },
};
