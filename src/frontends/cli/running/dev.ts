import { once } from 'node:events';
import { relative } from 'node:path';
import { watch, type FSWatcher } from 'chokidar';
import { plural } from '../../../base/finding.ts';
import { hooksAddress } from '../../../engine/config/config.ts';
import { isLoopback } from '../../../base/address.ts';
import { readOrMakeSecret } from '../../../engine/config/facts.ts';
import { maskProblem } from '../../../authoring/golden/golden.ts';
import { briefOf, explainRequest } from '../../../authoring/explanation/explanation.ts';
import type { Generation, ReloadResult } from '../../../service/generation/generation.ts';
import { createHookRequest } from '../../../engine/hook/hook.ts';
import {
  type ConsoleParts,
  startService,
  type Service,
  type ServiceOptions,
} from '../../../service/startup/startup.ts';
import { createLogger, type Log, type LogFields, type LogLevel } from '../../../base/telemetry/telemetry.ts';
import type { Cli } from '../command-line.ts';
import { findCasesFolder, findConfigFile, printFindings } from '../config-file.ts';
import { debounce } from './debounce.ts';
import { followKeys, type KeyContext, KEYS_LINE } from './dev-keys.ts';
import { startTunnel } from './dev-tunnel.ts';
import { type DevWebhook, openWebhook, type RegisterFlags } from './dev-webhook.ts';
import { formatDecisionLine, formatRefusalLine } from './decision-line.ts';
import { openRecorder, type Recorder } from '../authoring/recorder.ts';
import { catFile, commandLine, tokenInShell } from '../next-steps.ts';
import { devTokenFile } from './send.ts';
import { openConsole, type RunningConsole, type ServeFlags, untilStopped } from './serve.ts';
import { CliError, type Terminal } from '../terminal.ts';
import type { TunnelTool } from './tunnel.ts';
import { benchOf } from '../authoring/workbench.ts';
import { serviceAdvice } from '../lazy-advice.ts';

export interface DevFlags extends ServeFlags, RegisterFlags {
  readonly record?: string;
  /** False: requests are only recorded, in a store that goes with the command. Default true. */
  readonly perform?: boolean;
  readonly mail?: boolean;
  readonly mask: readonly string[];
  readonly tunnel?: TunnelTool | true;
  /** Whether letters that people write do something, where there is a terminal. */
  readonly keys?: boolean;
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
    await serveAuthors(cli, { ...flags, configFile, recorder });
  } finally {
    recorder?.close();
  }
}

/** `sluice record` is `sluice dev` that records, and performs only where it is asked to. */
export async function record(cli: Cli, { into, ...flags }: RecordFlags): Promise<void> {
  const folder = findCasesFolder(cli.terminal, flags, into);
  await dev(cli, { ...flags, record: folder, perform: flags.perform === true });
}

type RecordFlags = Omit<DevFlags, 'record'> & { readonly into?: string };

interface DevContext extends DevFlags {
  readonly configFile: string;
  readonly recorder: Recorder | undefined;
}

async function serveAuthors(cli: Cli, flags: DevContext): Promise<void> {
  const { terminal } = cli;
  const { service, parts, ...started } = await startForAuthors(terminal, flags);
  let webhook: DevWebhook | undefined;
  const keys: KeyContext = {
    ...started,
    service,
    configFile: flags.configFile,
    startTunnel: () =>
      startTunnel(terminal, service, {
        wanted: flags.tunnel ?? true,
        onAddress: async (origin, signal) => webhook?.serve(origin, signal),
      }),
    tunnel: undefined,
    isCostKnown: false,
  };
  const ended = new AbortController();
  let watcher: FSWatcher | undefined;
  const begin = async (watched: FSWatcher): Promise<void> => {
    // From then on no change is missed: a person may save a file right after the welcome.
    await once(watched, 'ready');
    printWelcome(terminal, service, { ...flags, ...started });
    const bench = benchOf(terminal, flags.configFile);
    const sayTypeErrors = (): Promise<void> =>
      bench.findTypeErrors(service.generation).then(
        (errors) => printFindings(terminal, errors),
        (error) => terminal.err(String(error)),
      );
    void sayTypeErrors();
    const reloading = debounce(100, async () => {
      const { kind } = await service.reload('a file that was changed');
      if (kind !== 'rejected') watched.add([...service.watchedPaths()]);
      if (kind === 'live') await sayTypeErrors();
    });
    watched.on('all', () => reloading.trigger());
    if (flags.tunnel !== undefined || webhook !== undefined) {
      keys.tunnel = keys.startTunnel();
      await keys.tunnel.opened;
    }
    if (flags.keys === true && terminal.interactive) {
      terminal.err(KEYS_LINE);
      void followKeys(cli, keys, ended.signal);
    }
  };
  try {
    if (flags.register !== undefined)
      webhook = await openWebhook(terminal, service.generation, { ...flags, ...parts });
    // A person may end it while the tunnel opens.
    const stopped = untilStopped(service, (signal, grace) => {
      terminal.err(`${signal}: stopping within ${grace} s; a second signal ends at once`);
    });
    watcher = watch([...service.watchedPaths()], { ignoreInitial: true });
    await Promise.race([stopped, begin(watcher).then(() => stopped)]);
  } finally {
    ended.abort();
    await watcher?.close();
    await Promise.all([webhook?.remove(), keys.tunnel?.stop()]);
    await service.stop();
  }
}

interface ServedAuthors {
  readonly service: Service;
  readonly parts: Pick<ConsoleParts, 'storage' | 'server'>;
  readonly consoleLink: string | undefined;
  readonly lastRequest: () => Promise<string | undefined>;
  /** Whether the author knows how to send a request, because one came before, or has findings to read first. */
  readonly knowsHow: boolean;
}

async function startForAuthors(terminal: Terminal, flags: DevContext): Promise<ServedAuthors> {
  const log = withoutEcho(createLogger({ format: 'pretty' }));
  const context = { configFile: flags.configFile, env: terminal.env, log };
  let console: RunningConsole | undefined;
  let knowsHow = false;
  const { promise: opened, resolve: open } = Promise.withResolvers<ConsoleParts>();
  const service: Service = await startService({
    ...serviceAdvice,
    ...flags.recorder?.serviceOptions,
    ...readableOptions(terminal, log, { ...flags, live: () => service.generation }),
    ...context,
    onFindings: (findings) => {
      knowsHow ||= findings.length > 0;
      printFindings(terminal, findings);
    },
    listen: flags,
    readMail: flags.mail === true,
    // What comes again comes to the address of the webhook, which is seldom this one.
    recovers: false,
    keepRequests: { which: 'all', bytes: 67_108_864, days: 1 },
    makeToken: (host) => makeDevToken(flags.configFile, host),
    openConsole: async (found) => {
      open(found);
      console = await openConsole({ mode: 'dev', ...context }, found);
      return console;
    },
  });
  const parts = await opened;
  const lastRequest = async (): Promise<string | undefined> =>
    (await parts.storage.listDecisions({ limit: 1 }))[0]?.requestId;
  knowsHow ||= (await lastRequest()) !== undefined;
  return { service, parts, consoleLink: console?.link, lastRequest, knowsHow };
}

/** A turn of echo answers with its prompt, which the line of its request shows. */
function withoutEcho(log: Log): Log {
  return {
    ...log,
    info: (fields, message) => {
      if (fields['runner'] !== 'echo') log.info(fields, message);
    },
    child: (fields) => withoutEcho(log.child(fields)),
  };
}

const USUAL_LOG_COLUMNS = 100;

function readableOptions(
  terminal: Terminal,
  log: Log,
  { configFile, recorder, live }: DevContext & { readonly live: () => Generation },
): Pick<ServiceOptions, 'requestLog' | 'onDecision' | 'onReload'> {
  const printed = new Set<string>();
  let isRefused = false;
  return {
    requestLog: readableRequests(log, terminal, { configFile, live }),
    onDecision: (decision) => {
      const explain = commandLine(terminal, configFile, `explain ${decision.request.id}`);
      const { color, columns = USUAL_LOG_COLUMNS } = terminal;
      terminal.err(formatDecisionLine(decision, { color, columns, explain, table: live().table, printed }));
      if (isRefused) terminal.err('  by the files of before: those of now have errors, which stand above');
      void recorder?.record(decision, live().config.secrets);
    },
    onReload: (result) => {
      isRefused = result.kind === 'rejected';
      sayReloaded(terminal, result);
    },
  };
}

/**
 * An address outside of the hooks gets a hint where they are. A name that no mapping matches gets the names
 * there are, and what to write.
 */
async function nameHints(
  fields: LogFields,
  generation: Generation,
  columns: number,
): Promise<readonly string[]> {
  const { code, hook } = fields;
  if (code === 'not_found') return [`hint: hooks are below ${generation.config.settings.hooks.path}`];
  if (code !== 'no_mapping_matched' || typeof hook !== 'string') return [];
  const request = createHookRequest({ path: hook, payload: {}, receivedAt: 0 });
  const { evaluation, advice } = await explainRequest(request, { generation, findings: [] });
  const { verdict, hints } = briefOf(evaluation, advice, { columns: columns - 2 });
  return [...verdict, ...hints];
}

/**
 * Each evaluated request gets a line that says what it became. A request that was refused before gets a
 * line of the same form.
 */
function readableRequests(
  log: Log,
  terminal: Terminal,
  { configFile, live }: { readonly configFile: string; readonly live: () => Generation },
): Omit<Log, 'child' | 'adopt' | 'protect' | 'flush'> {
  const { columns = USUAL_LOG_COLUMNS } = terminal;
  const explain = (id: string): string => commandLine(terminal, configFile, `explain ${id}`);
  const write =
    (level: LogLevel) =>
    (fields: LogFields, message: string): void => {
      if (message !== 'request') log[level](fields, message);
      else if (fields['fault'] !== undefined) log[level](fields, message);
      else if (fields['evaluateMs'] === undefined)
        void nameHints(fields, live(), columns).then((hints) =>
          terminal.err(formatRefusalLine(fields, { color: terminal.color, columns, explain, hints })),
        );
    };
  return {
    debug: (fields, message) => {
      // Probes of health, and workers that ask, are no requests of senders.
      if ((fields['hook'] ?? fields['code']) === undefined && message === 'request') return;
      // An author has mistyped an address that a service ignores in silence.
      write(fields['code'] === 'not_found' ? 'info' : 'debug')(fields, message);
    },
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    isEnabled: (level) => level === 'debug' || log.isEnabled(level),
  };
}

/** No token is made for an address that others can reach. */
function makeDevToken(configFile: string, host: string): string {
  if (!isLoopback(host)) {
    throw new CliError(
      `hooks.token is not set, and a generated token is only for this machine, not for ${host}: set hooks.token, or listen on 127.0.0.1`,
    );
  }
  return readOrMakeSecret(devTokenFile(configFile), 16);
}

type Welcome = DevContext & Omit<ServedAuthors, 'service' | 'parts'>;

function printWelcome(terminal: Terminal, service: Service, flags: Welcome): void {
  const { configFile } = flags;
  const { config, table } = service.generation;
  const { hooks } = config.settings;
  const token = service.tokenWasMade
    ? catFile(devTokenFile(configFile), terminal.cwd)
    : tokenInShell(config, terminal);
  const address = hooksAddress(service.url, config.settings);
  const lines = [
    '',
    `Sluice serves ${relative(terminal.cwd, configFile)}: ${plural(table.mappings.length, 'mapping')} on ${address}`,
    ...(hooks.enabled ? [] : ['hooks.enabled is false: every hook is answered 404']),
    ...optionLines(flags, `${address}/NAME?token=${token ?? 'TOKEN'}`),
    ...nextLines(terminal, service.url, { ...flags, address, token }),
  ];
  terminal.err(lines.join('\n'));
}

function optionLines({ recorder, consoleLink }: Welcome, tokenAddress: string): readonly string[] {
  const recording =
    recorder === undefined
      ? []
      : [...recorder.welcome, `For a sender that sends no header of yours: ${tokenAddress}`];
  if (consoleLink === undefined) return recording;
  return [...recording, '', `Watch requests arrive and try changes: ${consoleLink}`];
}

function nextLines(
  terminal: Terminal,
  url: string,
  { configFile, perform, knowsHow, address, token }: Welcome & { address: string; token: string | undefined },
): readonly string[] {
  const next = (command: string): string => commandLine(terminal, configFile, command);
  const send = next(`send hello.json --against ${url}`);
  const look = `${knowsHow ? 'Look' : 'Then look'}: ${['events', 'runs', 'requests'].map(next).join(' · ')}. Ctrl-C stops.`;
  // Without a token that a shell can show, "sluice send" finds it.
  const step =
    token === undefined
      ? `echo '{"path":"wake","body":{"text":"Hello from a hook"}}' > hello.json && ${send}`
      : `curl -sS ${address}/wake -H "Authorization: Bearer ${token}" -d '{"text":"Hello from a hook"}'`;
  const first = ['Send the first hook:', '', `  ${step}`, ''];
  return ['', ...(knowsHow ? [] : first), perform === false ? 'Ctrl-C stops.' : look, ''];
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
