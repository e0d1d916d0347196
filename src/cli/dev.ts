import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import { watch } from 'chokidar';
import { readSecretFile } from '../config/config.ts';
import { formatDiagnostics } from '../document/document.ts';
import { maskProblem } from '../golden/golden.ts';
import type { ReloadResult } from '../generation/generation.ts';
import { startService, type Service } from '../service/service.ts';
import { createLogger, type Log, type LogFields, type LogLevel } from '../telemetry/telemetry.ts';
import type { Cli } from './command-line.ts';
import { findConfigFile } from './config-file.ts';
import { type DevTunnel, openDevTunnel } from './dev-tunnel.ts';
import { openConsole } from './serve-console.ts';
import { formatDecisionLine, formatRefusalLine } from './decision-line.ts';
import { openRecorder, type Recorder } from './recorder.ts';
import { catFile, commandLine, tokenInShell } from './next-steps.ts';
import { devTokenFile } from './send.ts';
import { untilStopped, type ServeFlags } from './serve.ts';
import { CliError, type Terminal } from './terminal.ts';
import type { TunnelTool } from './tunnel.ts';

export interface DevFlags extends ServeFlags {
  readonly record?: string;
  /** False: requests are only recorded, in a store that goes with the command. Default true. */
  readonly perform?: boolean;
  /** Read the mailbox, too. */
  readonly mail?: boolean;
  readonly mask: readonly string[];
  /** Opens a tunnel from the internet to the hooks, with the tool named, or with one that is installed. */
  readonly tunnel?: TunnelTool | true;
}

/** Runs the service for authors: readable log, reload on change, a generated token where none is set. */
export async function dev(cli: Cli, flags: DevFlags): Promise<void> {
  const { terminal } = cli;
  for (const mask of flags.mask) {
    const problem = maskProblem(mask);
    if (problem !== undefined) throw new CliError(problem, 2);
  }
  const configFile = findConfigFile(terminal, flags);
  const recorder = openRecorder(terminal, flags);
  try {
    await serveAuthors(terminal, { ...flags, configFile, recorder });
  } finally {
    recorder?.close();
  }
}

interface Authoring extends DevFlags {
  readonly configFile: string;
  readonly recorder: Recorder | undefined;
}

async function serveAuthors(terminal: Terminal, flags: Authoring): Promise<void> {
  const opened: { link?: string; tunnel?: DevTunnel } = {};
  const service = await startForAuthors(terminal, flags, (link) => {
    opened.link = link;
  });
  try {
    const watcher = watch([...service.watchedPaths()], { ignoreInitial: true });
    // Who reads the welcome may save a file at once.
    await once(watcher, 'ready');
    printWelcome(terminal, service, { ...flags, consoleLink: opened.link });
    if (flags.tunnel !== undefined) opened.tunnel = await openDevTunnel(terminal, service, flags.tunnel);
    const reloadSoon = debounce(100, () => reload(service, watcher));
    watcher.on('all', reloadSoon);
    await untilStopped(service, (signal, grace) => {
      terminal.err(`${signal}: stopping within ${grace} s; a second signal ends at once`);
    });
    await watcher.close();
  } finally {
    await opened.tunnel?.stop();
    await service.stop();
  }
}

/** Starts the service so that an author sees each decision, finding and reload. */
function startForAuthors(
  terminal: Terminal,
  flags: Authoring,
  onConsole: (link: string) => void,
): Promise<Service> {
  const { configFile, recorder } = flags;
  const log = createLogger({ format: 'pretty' });
  return startService({
    ...recorder?.serviceOptions,
    configFile,
    env: terminal.env,
    log,
    requestLog: readableRequests(log, terminal),
    listen: flags,
    readMail: flags.mail === true,
    keepRequests: { which: 'all', count: 1_000, bytes: 67_108_864, days: 1 },
    makeToken: (host) => makeDevToken(configFile, host),
    onDecision: (decision) => {
      const explain = commandLine(terminal, configFile, `explain ${decision.request.id}`);
      terminal.err(formatDecisionLine(decision, { color: terminal.color, explain }));
      void recorder?.record(decision);
    },
    onDiagnostics: (diagnostics) => {
      if (diagnostics.length > 0) terminal.err(formatDiagnostics(diagnostics, { color: terminal.color }));
    },
    onReload: (result) => sayReloaded(terminal, result),
    openConsole: async (parts) => {
      const console = await openConsole({ mode: 'dev', configFile, env: terminal.env, log }, parts);
      if (console !== undefined) onConsole(console.link);
      return console;
    },
  });
}

/**
 * Requests that were evaluated get a line of their own that says what they became; the others, refused before that,
 * get one of the same form.
 */
function readableRequests(log: Log, terminal: Terminal): Omit<Log, 'child' | 'adopt' | 'protect' | 'flush'> {
  const write =
    (level: LogLevel) =>
    (fields: LogFields, message: string): void => {
      if (message !== 'request') log[level](fields, message);
      else if (fields['fault'] !== undefined) log[level](fields, message);
      else if (fields['evaluateMs'] === undefined) terminal.err(formatRefusalLine(fields, terminal.color));
    };
  return {
    debug: log.debug,
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    isEnabled: log.isEnabled,
  };
}

/** A token in a file that only its owner can read; never made for an address others can reach. */
function makeDevToken(configFile: string, host: string): string {
  if (!['127.0.0.1', '::1', 'localhost'].includes(host)) {
    throw new CliError(
      `hooks.token is not set, and a generated token is only for this machine, not for ${host}: set hooks.token, or listen on 127.0.0.1`,
    );
  }
  const file = devTokenFile(configFile);
  const read = readSecretFile(file);
  if (read.kind === 'read' && read.secret.length >= 16) {
    chmodSync(file, 0o600);
    return read.secret;
  }
  return writeDevToken(file);
}

/** Writes a new token into a folder that git ignores. */
function writeDevToken(file: string): string {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  chmodSync(dirname(file), 0o700);
  writeFileSync(resolve(dirname(file), '.gitignore'), '*\n');
  const token = randomBytes(24).toString('base64url');
  writeFileSync(file, `${token}\n`, { mode: 0o600 });
  return token;
}

/** What the welcome says besides the address. */
interface Welcome extends Authoring {
  /** Address of the console with its key. */
  readonly consoleLink: string | undefined;
}

function printWelcome(terminal: Terminal, service: Service, { configFile, ...flags }: Welcome): void {
  const { config } = service.generation;
  const { settings } = config;
  const count = service.generation.table.mappings.length;
  const token = service.tokenWasMade
    ? catFile(devTokenFile(configFile), terminal.cwd)
    : tokenInShell(config, terminal);
  const next = (command: string): string => commandLine(terminal, configFile, command);
  const hooks = `${service.url}${settings.hooks.path}`;
  const send = next(`send hello.json --against ${service.url}`);
  terminal.err(
    [
      '',
      `Sluice serves ${relative(terminal.cwd, configFile)}: ${count} mapping${count === 1 ? '' : 's'} on ${hooks}`,
      ...(settings.hooks.enabled ? [] : ['hooks.enabled is false: every hook is answered 404']),
      ...(flags.recorder?.welcome ?? []),
      ...(flags.recorder === undefined
        ? []
        : [`For a sender that sends no header of yours: ${hooks}/NAME?token=${token ?? 'TOKEN'}`]),
      ...(flags.consoleLink === undefined
        ? []
        : ['', `Watch requests arrive and try changes: ${flags.consoleLink}`]),
      '',
      'Send the first hook:',
      '',
      `  ${firstStep(hooks, token, send)}`,
      '',
      flags.perform === false
        ? 'Ctrl-C stops.'
        : `Then look: ${['events', 'runs', 'requests'].map(next).join(' · ')}. Ctrl-C stops.`,
      '',
    ].join('\n'),
  );
}

/** The command that sends a first hook; without a token that a shell can show, "sluice send" finds it. */
function firstStep(hooks: string, token: string | undefined, send: string): string {
  return token === undefined
    ? `echo '{"path":"wake","body":{"text":"Hello from a hook"}}' > hello.json && ${send}`
    : `curl -sS ${hooks}/wake -H "Authorization: Bearer ${token}" -d '{"text":"Hello from a hook"}'`;
}

async function reload(service: Service, watcher: ReturnType<typeof watch>): Promise<void> {
  const result = await service.reload();
  if (result.kind !== 'rejected') watcher.add([...service.watchedPaths()]);
}

function sayReloaded(terminal: Terminal, result: ReloadResult): void {
  switch (result.kind) {
    case 'unchanged':
      return;
    case 'rejected':
      terminal.err(`not reloaded, because of the errors above; generation ${result.generation} stays live`);
      return;
    case 'live': {
      const later = result.needsRestart.map((key) => `; a change of ${key} needs a restart`).join('');
      terminal.err(`reloaded: generation ${result.generation}${later}`);
    }
  }
}

/** Calls once things have been quiet for `ms`; a call under way is followed by at most one more. */
function debounce(ms: number, call: () => Promise<void>): () => void {
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();
  return () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      running = running.then(call);
    }, ms);
  };
}
