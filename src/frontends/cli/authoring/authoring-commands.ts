import {
  AGENTS,
  CHATS,
  collect,
  CONFIG,
  type CommandTable,
  JSON_OUTPUT,
  wholeNumber,
} from '../command-line.ts';

const FORMATS = ['pretty', 'json', 'github', 'sarif'];

const firstFiles: CommandTable = {
  'init [folder]': {
    about: 'write a first configuration, mapping and golden case; never overwrites',
    options: [
      ['--agent <kind>', 'the coding agent that takes the turns', { choices: AGENTS }],
      ['--sender <name>', 'the first sender, as "sluice add" has it'],
      ['--chat <name>', 'where replies go: writes its lines, which need a secret', { choices: CHATS }],
      ['--skill', 'write the skill with which coding agents write mappings to where they look for it'],
    ],
    load: async () => (await import('../setup/init.ts')).init,
  },
  'add <name>': {
    about: 'add a sender: mapping, proof, secret and golden cases; says what to do at the sender',
    options: [
      CONFIG,
      ['--from <files...>', 'make first mappings from payloads (JSON, YAML) or request files'],
      ['--as <sender>', 'with --from: whose payloads they are'],
      ['--comment', 'github: reply with comments on the issue or pull request'],
      ['--secret-file <file>', 'a file that holds the secret which the sender issued'],
      ['--token-file <file>', 'a file that holds the access token for --comment'],
      ['--url <url>', 'the beginning of the address that the sender calls; becomes server.publicUrl'],
      ['--register [target]', 'make the webhook at the sender, too, such as --register owner/name'],
      ['--remove [target]', 'take the webhook away at the sender again'],
      ['--api <url>', 'with --register: the address of the interface, where it is your own'],
      ['--yes', 'with --register and --remove: do it without a question'],
      ['--dry-run', 'show what would be written, and write nothing'],
    ],
    load: async () => (await import('../setup/add.ts')).add,
  },
  import: {
    about: 'make a Sluice configuration from that of another gateway',
    commands: {
      'openclaw <file>': {
        about:
          'write an openclaw.json as sluice.yaml and mappings, and report what was kept, changed and lost',
        options: [
          ['--into <dir>', 'where the files go (default: this folder)'],
          ['--dry-run', 'only report'],
          ['--json', 'the report as JSON'],
        ],
        load: async () => (await import('../setup/import-openclaw.ts')).importConfig,
      },
    },
  },
};

const judging: CommandTable = {
  check: {
    about: 'find every error in configuration, mappings and transforms',
    options: [
      CONFIG,
      ['--format <form>', 'form of the output', { choices: FORMATS, fallback: 'pretty' }],
      ['--json', 'the same as --format json'],
      ['--strict', 'end with 1 for warnings, too'],
      ['--fix', 'make the changes that findings propose, then check again'],
      ['--kept', 'take the requests that the service kept as samples, too'],
      ['--trust', 'say yes to the plugins as they are: this machine loads them from now on'],
      ['--explain <code>', 'print the page of a code: what is wrong, and examples'],
    ],
    load: async () => (await import('./check.ts')).check,
  },
  routes: {
    about: 'list the mappings of each hook name in their order, and what none of them takes',
    options: [CONFIG, JSON_OUTPUT],
    load: async () => (await import('./routes.ts')).routes,
  },
  'explain <request>': {
    about: 'show what a request file, or a request the service answered (by id), becomes and why',
    options: [CONFIG, ['--all', 'everything: each mapping, and the prompts'], JSON_OUTPUT],
    load: async () => (await import('./explain.ts')).explain,
  },
  'test [filter...]': {
    about:
      'run the golden cases (a filter is a part of a name); write what new ones expect, unless CI is set',
    options: [
      CONFIG,
      ['--dir <dir>', 'folder of the cases (default test/golden next to the configuration)'],
      ['-u, --update', 'rewrite expectation files that differ and remove obsolete ones'],
      ['--migrate', 'rewrite expectation files of an earlier version in the form of this one'],
      ['--watch', 'keep running, and run again the cases that a change affects'],
      ['--mutate', 'change the mappings in one place after the other, and say what no case notices'],
      ['--keep', 'with --mutate: write the requests that would tell as cases'],
      ['-v, --verbose', 'list passed cases too'],
      ['--coverage', 'report what the cases do not reach'],
      [
        '--coverage-file <form=file>',
        'write coverage as text, json or lcov (repeatable)',
        { read: collect, fallback: [] },
      ],
      ['--fail-under <percent>', 'end with 1 if coverage is below this (implies --coverage)'],
      [
        '--reporter <name[=file]>',
        'pretty, junit, json or github (repeatable; default pretty)',
        { read: collect, fallback: [] },
      ],
    ],
    load: async () => (await import('./test.ts')).test,
  },
  'replay <request>': {
    about: 'evaluate a request file, or a kept request by id, with the mappings as they are now; or send it',
    options: [
      CONFIG,
      ['--against <url>', 'send it to this service instead'],
      ['--sign', "with --against: sign it as its path's sender would"],
      ['--sign-key <file>', 'PEM of a private key, where the path holds a public one'],
      JSON_OUTPUT,
    ],
    load: async () => (await import('./replay.ts')).replay,
  },
  'diff <base>': {
    about: 'evaluate every recorded request with a git revision (or a folder) and with the working tree',
    options: [
      CONFIG,
      ['--corpus <dir>', 'request files (default test/golden next to the configuration)'],
      JSON_OUTPUT,
      ['--exit-code', 'end with 1 if an outcome changes'],
    ],
    load: async () => (await import('./diff.ts')).diff,
  },
  transform: {
    about: 'try a transform module',
    commands: {
      'run <file>': {
        about: 'run a module on a request file in the sandbox',
        options: [
          CONFIG,
          ['--request <file>', 'request file: path, headers, query, body', { isNeeded: true }],
          ['--export <name>', 'name of the exported function (default: "default", or else "transform")'],
          JSON_OUTPUT,
        ],
        load: async () => (await import('./transform-run.ts')).runTransform,
      },
    },
  },
  lsp: {
    about: 'language server for editors: findings as you type, completion, hover, fixes',
    options: [CONFIG, ['--stdio', 'speak on standard input and output, which it always does']],
    load: async () => (await import('./lsp.ts')).lsp,
  },
  'types <hook-name>': {
    about: 'write the TypeScript type of what is sent to a hook name, for transforms, from its samples',
    options: [CONFIG, ['--out <file>', 'file to write it to (default: standard output)']],
    load: async () => (await import('./types.ts')).types,
  },
  mcp: {
    about: 'answer the read-only tools of a coding agent (Model Context Protocol, on stdin and stdout)',
    options: [
      CONFIG,
      [
        '--private <field>',
        'a field whose values no answer shows (repeatable)',
        { read: collect, fallback: [] },
      ],
    ],
    load: async () => (await import('./mcp.ts')).mcp,
  },
  config: {
    about: 'the configuration as it works',
    commands: {
      show: {
        about: 'print every setting with its value, secrets masked, and where it comes from',
        options: [CONFIG, JSON_OUTPUT],
        load: async () => (await import('../setup/show-config.ts')).showConfig,
      },
    },
  },
  'completion <shell>': {
    about: 'print what makes bash, zsh or fish complete commands and options',
    load: async () => (await import('../setup/completion.ts')).completion,
  },
};

const connections: CommandTable = {
  'runners [action] [names...]': {
    about:
      'start each runner, or those named, with a one-word prompt and say what came back; add NAME --worker makes one',
    options: [
      CONFIG,
      JSON_OUTPUT,
      ['--timeout <seconds>', 'per runner', { read: wholeNumber(1, 3600), fallback: 120 }],
      ['--worker', 'with "add": make a runner whose runs workers on other machines ask for'],
    ],
    load: async () => (await import('../setup/check-runners.ts')).runners,
  },
  channels: {
    about: 'delivery channels',
    commands: {
      check: {
        about: 'verify credentials and show what "last" resolves to',
        isDefault: true,
        options: [
          CONFIG,
          JSON_OUTPUT,
          ['--timeout <seconds>', 'time limit for each channel', { read: wholeNumber(1, 300), fallback: 15 }],
        ],
        load: async () => (await import('../setup/channel-tasks.ts')).checkChannels,
      },
      'send <channel> <text>': {
        about: 'send a message through a channel',
        options: [CONFIG, ['--to <recipient>', "recipient (default: the channel's own)"]],
        load: async () => (await import('../setup/channel-tasks.ts')).sendMessage,
      },
      'use <channel> [to]': {
        about: 'set the channel, and the recipient, that "last" means for the main session',
        options: [CONFIG],
        load: async () => (await import('../setup/channel-tasks.ts')).useChannel,
      },
    },
  },
};

export const authoringCommands: CommandTable = { ...firstFiles, ...judging, ...connections };
