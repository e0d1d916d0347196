import { constants, statfsSync, type Stats } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { formatDiagnostics } from '../document/document.ts';
import { checkGeneration } from '../generation/generation.ts';
import { Sandbox } from '../sandbox/sandbox.ts';
import type { LoadedConfig } from '../config/config.ts';
import { clearControl } from '../telemetry/telemetry.ts';
import { tryChannels } from './channel-tasks.ts';
import type { Cli } from './command-line.ts';
import { findConfigFile, loadSettings } from './config-file.ts';

export interface DoctorFlags {
  readonly config?: string;
  readonly json?: boolean;
}

/** One look at the set-up. */
interface Finding {
  readonly area: string;
  readonly ok: boolean;
  readonly text: string;
}

/** Less than this and the store may soon take nothing more. */
const MIN_FREE_BYTES = 500_000_000;
/** One question to a platform. */
const CHANNEL_TIMEOUT_MS = 10_000;
/** A file that is newer than now by more says that the clock is behind. */
const CLOCK_SLACK_MS = 60_000;

/**
 * Looks at the whole set-up on this machine: everything that loading finds with the secrets as they are (tokens, their
 * strength and reuse, runners, models, channels, senders, mail), and what no file shows: modes, disk, clock.
 */
export async function doctor(cli: Cli, flags: DoctorFlags): Promise<void> {
  const { terminal } = cli;
  const file = findConfigFile(terminal, flags);
  const sandbox = new Sandbox();
  try {
    const options = { env: terminal.env, needSecrets: true, sandbox };
    const { diagnostics, summary, proofs } = await checkGeneration(file, options);
    const config = await loadSettings(terminal, flags);
    const findings = [
      configurationFinding(diagnostics.length, summary),
      ...(await findFileModes(config)),
      listenerFinding(config),
      await findClock(config),
      await findDisk(config),
      ...(await channelFindings(cli, flags, config)),
      runnerFinding(config),
      mailFinding(config),
    ];
    if (flags.json === true)
      terminal.out(
        JSON.stringify({
          findings,
          diagnostics: diagnostics.map(({ severity, code, message }) => ({ severity, code, message })),
        }),
      );
    else {
      if (diagnostics.length > 0) terminal.out(formatDiagnostics(diagnostics, { color: terminal.color }));
      for (const { area, ok, text } of findings)
        terminal.out(`${ok ? 'ok     ' : 'problem'}  ${area.padEnd(13)}  ${text}`);
      for (const line of proofs) terminal.out(line);
    }
    if (findings.some(({ ok }) => !ok)) cli.setExitCode(1);
  } finally {
    await sandbox.stop();
  }
}

function configurationFinding(count: number, summary: string): Finding {
  const text =
    count === 0 ? `no findings: ${summary}` : `${String(count)} findings, listed above; ${summary}`;
  return { area: 'configuration', ok: count === 0, text };
}

/** Files with secrets that others on this machine can read, and a configuration that others can write. */
async function findFileModes({ file, files }: LoadedConfig): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  for (const path of files) {
    const stats = await stat(path).catch(() => undefined);
    const problem = stats === undefined ? 'it cannot be read' : modeProblem(stats, path === file);
    if (problem !== undefined) findings.push({ area: 'files', ok: false, text: `${path}: ${problem}` });
  }
  const text = `${String(files.length)} files of configuration and secrets are closed to others`;
  return findings.length > 0 ? findings : [{ area: 'files', ok: true, text }];
}

function modeProblem({ mode }: Stats, isConfiguration: boolean): string | undefined {
  if (isConfiguration) return (mode & 0o022) === 0 ? undefined : 'others can write it; run chmod go-w on it';
  return (mode & 0o077) === 0 ? undefined : 'it holds a secret and others can read it; run chmod 600 on it';
}

function listenerFinding({ settings: { server } }: LoadedConfig): Finding {
  const proxies = server.trustedProxies.length;
  const parts = [
    `listens on ${server.host} port ${String(server.port)}`,
    proxies === 0 ? 'trusts no proxy' : `trusts ${String(proxies)} proxies`,
    server.publicUrl === undefined ? 'no publicUrl' : `senders call ${server.publicUrl}`,
  ];
  return { area: 'listener', ok: true, text: parts.join(', ') };
}

/** Signed times are compared with this clock. */
async function findClock({ file }: LoadedConfig): Promise<Finding> {
  const { mtimeMs } = await stat(file);
  const aheadMs = mtimeMs - Date.now();
  const ok = aheadMs <= CLOCK_SLACK_MS;
  const text = ok
    ? `it is ${new Date().toISOString()} here; signed times are compared with that`
    : `the clock is at least ${String(Math.round(aheadMs / 1000))} s behind: the configuration was written later than now; set the clock`;
  return { area: 'clock', ok, text };
}

async function findDisk({ settings: { storage } }: LoadedConfig): Promise<Finding> {
  if (!storage.url.startsWith('sqlite:'))
    return { area: 'disk', ok: true, text: 'the store is on another machine' };
  const folder = dirname(storage.url.slice('sqlite:'.length));
  try {
    await access(folder, constants.W_OK);
    const { bavail, bsize } = statfsSync(folder);
    const free = bavail * bsize;
    const text = `${String(Math.round(free / 1_000_000))} MB are free in ${folder}`;
    const ok = free >= MIN_FREE_BYTES;
    return {
      area: 'disk',
      ok,
      text: ok ? text : `${text}; the store needs room: free some, or move it (storage.url)`,
    };
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    // A folder that is not there yet is made at the first start.
    if (code === 'ENOENT') return { area: 'disk', ok: true, text: `${folder} is made at the first start` };
    return {
      area: 'disk',
      ok: false,
      text: `the store cannot be written in ${folder} (${code}); allow the user that Sluice runs as`,
    };
  }
}

/** Asks each platform whether the credentials hold; nothing is sent to anybody. */
async function channelFindings(
  cli: Cli,
  flags: DoctorFlags,
  { settings }: LoadedConfig,
): Promise<readonly Finding[]> {
  if (Object.keys(settings.channels).length === 0) {
    return [{ area: 'channels', ok: true, text: 'none: replies are stored and not delivered' }];
  }
  const verdicts = await tryChannels(cli, flags, CHANNEL_TIMEOUT_MS);
  return verdicts.map(({ channel, ok, account, code, message }) => ({
    area: 'channels',
    ok,
    text: clearControl(ok ? `${channel} knows this account: ${account}` : `${channel}: ${code}: ${message}`, {
      oneLine: true,
    }),
  }));
}

function runnerFinding({ settings: { gateway } }: LoadedConfig): Finding {
  const kind = gateway.runners[gateway.runner]?.kind ?? 'unknown';
  return {
    area: 'runner',
    ok: kind !== 'echo',
    text: kind === 'echo' ? 'echo: no agent runs; set gateway.runner' : `${gateway.runner} (${kind})`,
  };
}

function mailFinding({ settings: { hooks } }: LoadedConfig): Finding {
  return {
    area: 'mail',
    ok: true,
    text: hooks.mail === undefined ? 'no mailbox is read' : `reads a mailbox (${hooks.mail.kind})`,
  };
}
