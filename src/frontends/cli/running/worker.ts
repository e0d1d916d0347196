import { hostname } from 'node:os';
import { resolve } from 'node:path';
import { defined } from '../../../base/json.ts';
import { readSecretFile, type RunnerSettings, stateFolder } from '../../../engine/config/config.ts';
import { isLoopback } from '../../../base/address.ts';
import { clearLine } from '../../../base/telemetry/telemetry.ts';
import { createRunner, RunWorker, WorkerRefused } from '../../../service/runners/runners.ts';
import type { Cli } from '../command-line.ts';
import { explainStart } from '../lazy-advice.ts';
import { CliError } from '../terminal.ts';

interface WorkerFlags {
  readonly tokenFile: string;
  readonly agent?: 'claude' | 'codex' | 'gemini' | 'opencode';
  readonly access: 'read' | 'edit' | 'full';
  readonly name?: string;
  readonly cwd?: string;
  readonly folder: readonly string[];
  readonly passEnv: readonly string[];
  readonly insecure?: boolean;
}

/** Asks a service for the runs of a runner, and takes their turns here, until it is interrupted. */
export async function work(
  cli: Cli,
  address: string,
  command: readonly string[],
  flags: WorkerFlags,
): Promise<void> {
  const { terminal } = cli;
  const url = readAddress(address, flags);
  if ((flags.agent === undefined) === (command.length === 0))
    throw new CliError('say what takes the turns: --agent NAME, or -- COMMAND ARG…', 2);
  const token = readToken(flags.tokenFile, terminal.cwd);
  const state = { directory: url, env: terminal.env, name: flags.agent ?? 'command' };
  const { cwd = flags.agent === undefined ? '.' : undefined } = flags;
  const place =
    cwd === undefined ? { privateFolders: stateFolder('work', state) } : { cwd: resolve(terminal.cwd, cwd) };
  const common = { ...place, env: {}, passEnv: [...flags.passEnv] };
  const settings = (maxReplyBytes: number): RunnerSettings =>
    flags.agent === undefined
      ? { kind: 'command', argv: [...command], prompt: 'stdin', retryExitCodes: [], ...common, maxReplyBytes }
      : {
          kind: 'agent',
          agent: flags.agent,
          command: flags.agent,
          argv: [],
          access: flags.access,
          sessions: stateFolder('sessions', state),
          ...common,
          maxReplyBytes,
        };
  const stopping = new AbortController();
  const worker = new RunWorker(
    {
      url,
      token,
      name: flags.name ?? hostname(),
      ...defined({ access: flags.agent && flags.access }),
      folder: stateFolder('workers', state),
      workFolders: readFolders(flags.folder, terminal.cwd),
      runner: (maxReplyBytes) =>
        createRunner('worker', settings(maxReplyBytes), { host: terminal.env, explainStart }),
      say: (line) => terminal.err(clearLine(line)),
    },
    stopping.signal,
  );
  void terminal.untilInterrupted().then(() => stopping.abort());
  try {
    await worker.work();
  } catch (error) {
    throw error instanceof WorkerRefused ? new CliError(error.message, 1) : error;
  }
}

function readToken(file: string, cwd: string): string {
  const read = readSecretFile(resolve(cwd, file));
  if (read.kind === 'read') return read.secret.trim();
  throw new CliError(
    `--token-file ${file} ${read.problem}: write the token of the runner into it; "sluice runners add NAME --worker" makes one on the server`,
    2,
  );
}

/** The token goes to this address, so the way there must be private. */
function readAddress(address: string, { insecure }: WorkerFlags): string {
  const url = URL.parse(address);
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new CliError(`${address} is no address of a service`, 2);
  if (url.protocol === 'http:' && !isLoopback(url.hostname) && insecure !== true)
    throw new CliError(
      'http:// would show the token and the prompts on the way; use https://, or say --insecure',
      2,
    );
  return url.href.replace(/\/+$/, '');
}

function readFolders(given: readonly string[], cwd: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    given.map((text) => {
      const [, name, path] = /^([\w.-]{1,64})=(.+)$/.exec(text) ?? [];
      if (name === undefined || path === undefined)
        throw new CliError(`--folder takes NAME=PATH, found ${text}`, 2);
      return [name, resolve(cwd, path)];
    }),
  );
}
