import type { AddFlags } from './add-steps.ts';
import type { ImportFlags } from './import-openclaw.ts';
import { Option, type Command } from 'commander';
import type { AgentKind } from '../config/config.ts';
import { choiceOption, collect, wholeNumber, type Cli } from './command-line.ts';
import type { JsonFlags } from './config-file.ts';
import type { CheckFlags } from './check.ts';
import type { ExplainFlags } from './explain.ts';
import type { DiffFlags } from './diff.ts';
import type { InitFlags } from './init.ts';
import type { ReplayFlags } from './replay.ts';
import type { TestFlags } from './test.ts';
import type { TransformRunFlags } from './transform-run.ts';

/** Written here too, since the command line starts without loading the configuration. */
const AGENTS = ['claude', 'codex', 'gemini', 'opencode'] as const satisfies readonly AgentKind[];

/** Commands for people who write mappings and transforms. */
export function addAuthoringCommands(program: Command, cli: Cli): void {
  addFirstFiles(program, cli);
  addCheck(program, cli);
  addRoutes(program, cli);
  addExplain(program, cli);
  addTest(program, cli);
  addReplay(program, cli);
  addDiff(program, cli);
  addTransform(program, cli);
  addLsp(program, cli);
  addSchemas(program, cli);
  addRunners(program, cli);
  addChannels(program, cli);
}

/** Commands that write configurations and mappings. */
function addFirstFiles(program: Command, cli: Cli): void {
  program
    .command('init [folder]')
    .description('write a first configuration, mapping and golden case; never overwrites')
    .addOption(new Option('--agent <kind>', 'the coding agent that takes the turns').choices(AGENTS))
    .option('--skill', 'write the skill with which coding agents write mappings to where they look for it')
    .action(async (folder: string | undefined, flags: InitFlags) =>
      (await import('./init.ts')).init(cli, folder ?? '.', flags),
    );
  addSender(program, cli);
  addImport(program, cli);
}

function addSender(program: Command, cli: Cli): void {
  cli
    .withConfig(
      program
        .command('add <name>')
        .description('add a sender: mapping, proof, secret and golden cases; says what to do at the sender'),
    )
    .option('--from <files...>', 'make first mappings from payloads (JSON, YAML) or request files')
    .option('--as <sender>', 'with --from: whose payloads they are')
    .option('--comment', 'github: reply with comments on the issue or pull request')
    .option('--secret-file <file>', 'a file that holds the secret which the sender issued')
    .option('--token-file <file>', 'a file that holds the access token for --comment')
    .option('--url <url>', 'the beginning of the address that the sender calls; becomes server.publicUrl')
    .option('--register [target]', 'make the webhook at the sender, too, such as --register owner/name')
    .option('--remove [target]', 'take the webhook away at the sender again')
    .option('--api <url>', 'with --register: the address of the interface, where it is your own')
    .option('--yes', 'with --register and --remove: do it without a question')
    .option('--dry-run', 'show what would be written, and write nothing')
    .action(async (name: string, flags: AddFlags) => (await import('./add.ts')).add(cli, name, flags));
}

function addImport(program: Command, cli: Cli): void {
  program
    .command('import')
    .description('make a Sluice configuration from that of another gateway')
    .command('openclaw <file>')
    .description(
      'write an openclaw.json as sluice.yaml and mappings, and report what was kept, changed and lost',
    )
    .option('--into <dir>', 'where the files go (default: this folder)')
    .option('--dry-run', 'only report')
    .option('--json', 'the report as JSON')
    .action(async (file: string, flags: ImportFlags) =>
      (await import('./import-openclaw.ts')).importConfig(cli, file, flags),
    );
}

function addCheck(program: Command, cli: Cli): void {
  cli
    .withConfig(
      program.command('check').description('find every error in configuration, mappings and transforms'),
    )
    .addOption(
      choiceOption('--format <form>', 'form of the output', ['pretty', 'json', 'github', 'sarif'], 'pretty'),
    )
    .option('--json', 'the same as --format json')
    .option('--strict', 'end with 1 for warnings, too')
    .option('--fix', 'make the changes that findings propose, then check again')
    .option('--explain <code>', 'print the page of a code: what is wrong, and examples')
    .action(async (flags: CheckFlags) => (await import('./check.ts')).check(cli, flags));
}

function addRoutes(program: Command, cli: Cli): void {
  cli
    .withConfig(
      program
        .command('routes')
        .description('list the mappings of each hook name in their order, and what none of them takes'),
    )
    .option('--json', 'a JSON object on stdout')
    .action(async (flags: JsonFlags) => (await import('./routes.ts')).routes(cli, flags));
}

function addExplain(program: Command, cli: Cli): void {
  cli
    .withConfig(
      program
        .command('explain <request>')
        .description('show what a request file, or a request the service answered (by id), becomes and why'),
    )
    .option('--all', 'everything: each mapping, prompts, and all fields of the request')
    .option('--json', 'a JSON object on stdout')
    .action(async (request: string, flags: ExplainFlags) =>
      (await import('./explain.ts')).explain(cli, request, flags),
    );
}

function addReplay(program: Command, cli: Cli): void {
  cli
    .withConfig(
      program
        .command('replay <request>')
        .description(
          'evaluate a request file, or a kept request by id, with the mappings as they are now; or send it',
        ),
    )
    .option('--against <url>', 'send it to this service instead')
    .option('--json', 'a JSON object on stdout')
    .action(async (request: string, flags: ReplayFlags) =>
      (await import('./replay.ts')).replay(cli, request, flags),
    );
}

function addDiff(program: Command, cli: Cli): void {
  cli
    .withConfig(
      program
        .command('diff <base>')
        .description(
          'evaluate every recorded request with a git revision (or a folder) and with the working tree',
        ),
    )
    .option('--corpus <dir>', 'request files (default test/golden next to the configuration)')
    .option('--json', 'a JSON object on stdout')
    .option('--exit-code', 'end with 1 if an outcome changes')
    .action(async (base: string, flags: DiffFlags) => (await import('./diff.ts')).diff(cli, base, flags));
}

function addLsp(program: Command, cli: Cli): void {
  cli
    .withConfig(
      program
        .command('lsp')
        .description('language server for editors: findings as you type, completion, hover, go to, fixes'),
    )
    .option('--stdio', 'speak on standard input and output, which it always does')
    .action(async (flags: { config?: string }) => (await import('./lsp.ts')).lsp(cli, flags));
}

function addSchemas(program: Command, cli: Cli): void {
  program
    .command('schemas')
    .description('write the JSON Schemas of configuration, mappings and request files into ./schemas')
    .option('--check', 'write nothing; end with 1 if a file is out of date')
    .option('--dir <dir>', 'folder to write them to (default ./schemas)', 'schemas')
    .action(async (flags: { check?: boolean; dir: string }) =>
      (await import('./schemas.ts')).schemas(cli, flags),
    );
}

function addTest(program: Command, cli: Cli): void {
  const command = program
    .command('test [filter...]')
    .description(
      'run the golden cases (a filter is a part of a name); write what new ones expect, unless CI is set',
    );
  const selection = cli
    .withConfig(command)
    .option('--dir <dir>', 'folder of the cases (default test/golden next to the configuration)')
    .option('-u, --update', 'rewrite expectation files that differ and remove obsolete ones')
    .option('--migrate', 'rewrite expectation files of an earlier version in the form of this one')
    .option('-i, --interactive', 'show the differences one by one and ask which to write')
    .option('--watch', 'keep running, and run again the cases that a change affects')
    .option('-v, --verbose', 'list passed cases too');
  withReports(selection).action(async (filters: string[], flags: TestFlags) =>
    (await import('./test.ts')).test(cli, filters, flags),
  );
}

/** What is reported besides the cases that failed, and where to. */
function withReports(command: Command): Command {
  return command
    .option('--coverage', 'report what the cases do not reach')
    .option('--coverage-file <form=file>', 'write coverage as text, json or lcov (repeatable)', collect, [])
    .addOption(
      new Option('--fail-under <percent>', 'end with 1 if coverage is below this (implies --coverage)'),
    )
    .option(
      '--reporter <name[=file]>',
      'pretty, junit, tap, json or github (repeatable; default pretty)',
      collect,
      [],
    );
}

function addTransform(program: Command, cli: Cli): void {
  const transform = program.command('transform').description('try a transform module');
  cli
    .withConfig(transform.command('run <file>').description('run a module on a request file in the sandbox'))
    .requiredOption('--request <file>', 'request file: path, headers, query, body')
    .option('--export <name>', 'name of the exported function (default: "default", or else "transform")')
    .option('--inspect', 'run it OUTSIDE the sandbox, for breakpoints')
    .option('--json', 'a JSON object on stdout')
    .action(async (file: string, flags: TransformRunFlags) =>
      (await import('./transform-run.ts')).runTransform(cli, file, flags),
    );
}

function addRunners(program: Command, cli: Cli): void {
  cli
    .withConfig(
      program
        .command('runners')
        .description('the agents and programs that perform runs')
        .command('check [names...]', { isDefault: true })
        .description('start each runner with a one-word prompt and say what came back'),
    )
    .option('--json', 'one JSON array on stdout')
    .option('--timeout <seconds>', 'per runner', wholeNumber(1, 3600), 120)
    .action(async (names: string[], flags: JsonFlags & { timeout: number }) =>
      (await import('./check-runners.ts')).checkRunners(cli, names, flags),
    );
}

function addChannels(program: Command, cli: Cli): void {
  const channels = program.command('channels').description('delivery channels');
  addChannelsCheck(channels, cli);
  addChannelsSend(channels, cli);
  addChannelsUse(channels, cli);
}

function addChannelsSend(channels: Command, cli: Cli): void {
  cli
    .withConfig(channels.command('send <channel> <text>').description('send a message through a channel'))
    .option('--to <recipient>', "recipient (default: the channel's own)")
    .action(async (channel: string, text: string, flags: { config?: string; to?: string }) =>
      (await import('./channel-tasks.ts')).sendMessage(cli, channel, text, flags),
    );
}

function addChannelsUse(channels: Command, cli: Cli): void {
  cli
    .withConfig(
      channels
        .command('use <channel> [to]')
        .description('set the channel, and the recipient, that "last" means for the main session'),
    )
    .action(async (channel: string, to: string | undefined, flags: { config?: string }) =>
      (await import('./channel-tasks.ts')).useChannel(cli, channel, to, flags),
    );
}

function addChannelsCheck(channels: Command, cli: Cli): void {
  cli
    .withConfig(
      channels
        .command('check', { isDefault: true })
        .description('verify credentials and show what "last" resolves to'),
    )
    .option('--json', 'a JSON object on stdout')
    .option('--timeout <seconds>', 'time limit for each channel', wholeNumber(1, 300), 15)
    .action(async (flags: JsonFlags & { timeout: number }) =>
      (await import('./channel-tasks.ts')).checkChannels(cli, flags),
    );
}
