import { Option, type Command } from 'commander';
import { collect, wholeNumber, type Cli } from './command-line.ts';
import type { JsonFlags } from './config-file.ts';
import type { ServeFlags } from './serve.ts';
import type { DevFlags } from './dev.ts';
import type { SendFlags } from './send.ts';
import type { ShadowFlags } from './shadow.ts';
import type { TunnelTool } from './tunnel.ts';

/** Written here too, since the command line starts without loading what it runs. */
const TUNNEL_TOOLS = ['tailscale', 'cloudflared', 'ngrok'] as const satisfies readonly TunnelTool[];

/** Commands that run the service or talk to a running one, in the order of the help. */
export function addServiceCommands(program: Command, cli: Cli): void {
  addServe(program, cli);
  addDev(program, cli);
  addDemo(program, cli);
  addSend(program, cli);
  addDoctor(program, cli);
  addVerify(program, cli);
  addShadow(program, cli);
  addRecord(program, cli);
}

/** Adds where the service listens. */
function withListener(command: Command, cli: Cli): Command {
  return cli
    .withConfig(command)
    .option('--host <address>', 'listen on this address instead of server.host')
    .option(
      '--port <n>',
      'listen on this port instead of server.port; 0 takes a free port',
      wholeNumber(0, 65_535),
    );
}

function addServe(program: Command, cli: Cli): void {
  const command = program
    .command('serve')
    .description('run the service: it needs a token, logs JSON, and reloads on SIGHUP');
  withListener(command, cli)
    .addOption(
      new Option(
        '--role <role>',
        'of several services on one PostgreSQL store: front takes hooks only, worker performs only; default all',
      ).choices(['front', 'worker', 'all']),
    )
    .action(async (flags: ServeFlags) => (await import('./serve.ts')).serve(cli, flags));
}

function addDev(program: Command, cli: Cli): void {
  const tunnel = new Option(
    '--tunnel [tool]',
    'make the hooks reachable from the internet, by tailscale, cloudflared or ngrok',
  ).choices(TUNNEL_TOOLS);
  const mask = 'mask the value at this place in records, e.g. payload.email (repeatable)';
  const command = program
    .command('dev')
    .description('run the service while you write mappings: readable log, reload on change, generated token');
  withListener(command, cli)
    .option('--record <dir>', 'write every received request as a golden case')
    .option('--mask <place>', mask, collect, [])
    .option('--mail', 'read the mailbox of hooks.mail, too')
    .addOption(tunnel)
    .action(async (flags: DevFlags) => (await import('./dev.ts')).dev(cli, flags));
}

function addDemo(program: Command, cli: Cli): void {
  program
    .command('demo')
    .description('start a service on a free port, send three real payloads, show what became of them, stop')
    .action(async () => (await import('./demo.ts')).demo(cli));
}

function addSend(program: Command, cli: Cli): void {
  cli
    .withConfig(
      program
        .command('send <request>')
        .description('send a request file (path, headers, query, body) to a running service'),
    )
    .option('--against <url>', 'address of the service (default: from the configuration)')
    .option('--json', 'the answers as one JSON array on stdout')
    .option('--sign', "sign each request as its path's sender would")
    .option('--sign-key <file>', 'PEM of a private key, where the path holds a public one')
    .action(async (request: string, flags: SendFlags) =>
      (await import('./send.ts')).send(cli, request, flags),
    );
}

function addDoctor(program: Command, cli: Cli): void {
  cli
    .withConfig(
      program
        .command('doctor')
        .description('look at the whole set-up on this machine: configuration, secrets, files, disk, clock'),
    )
    .option('--json', 'a JSON object on stdout')
    .action(async (flags: JsonFlags) => (await import('./doctor.ts')).doctor(cli, flags));
}

function addVerify(program: Command, cli: Cli): void {
  cli
    .withConfig(
      program
        .command('verify <request>')
        .description('check whether a request file proves its sender as its path asks for, and say why not'),
    )
    .option('--json', 'a JSON array on stdout')
    .action(async (request: string, flags: JsonFlags) =>
      (await import('./verify-requests.ts')).verify(cli, request, flags),
    );
}

function addShadow(program: Command, cli: Cli): void {
  program
    .command('shadow')
    .description(
      'pass live hooks on to another gateway, and show what Sluice would make of them; it runs nothing itself',
    )
    .requiredOption('--upstream <url>', 'address of the other gateway, such as http://127.0.0.1:18789')
    .option('-c, --config <file>', 'configuration (default ./sluice.yaml or ./sluice.json)')
    .option('--host <address>', 'address to listen on; default 127.0.0.1')
    .option(
      '--port <n>',
      'port to listen on instead of server.port; 0 takes a free port',
      wholeNumber(0, 65_535),
    )
    .option('--record <dir>', 'write every received request as a golden case')
    .option('--mask <place>', 'mask the value at this place in records (repeatable)', collect, [])
    .action(async (flags: ShadowFlags) => (await import('./shadow.ts')).shadow(cli, flags));
}

function addRecord(program: Command, cli: Cli): void {
  program
    .command('record')
    .description(
      'receive requests and write each as a golden case, also where no mapping takes it; performs nothing unless asked',
    )
    .option('-c, --config <file>', 'configuration (default ./sluice.yaml or ./sluice.json)')
    .option('--into <dir>', 'where the cases go (default test/golden next to the configuration)')
    .option('--mask <place>', 'mask the value at this place (repeatable)', collect, [])
    .option('--port <n>', 'port to listen on', wholeNumber(0, 65_535))
    .option(
      '--perform',
      'perform what requests become, in the store of the configuration, as sluice dev does',
    )
    .option('--mail', 'read the mailbox of hooks.mail, too')
    .action((flags: RecordFlags) => record(cli, flags));
}

type RecordFlags = Omit<DevFlags, 'record'> & { readonly into?: string };

/** `sluice record` is `sluice dev` that records, and performs only where it is asked to. */
async function record(cli: Cli, { into, ...flags }: RecordFlags): Promise<void> {
  const { findCasesFolder } = await import('./config-file.ts');
  const folder = findCasesFolder(cli.terminal, flags, into);
  const { dev } = await import('./dev.ts');
  await dev(cli, { ...flags, record: folder, perform: flags.perform === true });
}
