import type { Finding } from '../../../base/document/document.ts';
import { findingToJson, formatFindings } from '../../../base/document/facts.ts';
import { findSender } from '../../../engine/senders/senders.ts';
import type { Generation } from '../../../service/generation/generation.ts';
import { MailFailure, tryMailbox } from '../../../service/mail/mail.ts';
import type { LoadedConfig } from '../../../engine/config/config.ts';
import { clearLine } from '../../../base/telemetry/telemetry.ts';
import { tryChannels } from '../setup/channel-tasks.ts';
import type { Cli } from '../command-line.ts';
import { findConfigFile, type JsonFlags } from '../config-file.ts';
import { printJson } from '../json.ts';
import type { Terminal } from '../terminal.ts';
import { type Check, checkMachine } from './doctor-machine.ts';
import { benchOf } from '../authoring/workbench.ts';
import { existsSync } from 'node:fs';
import { findStoreFile } from '../../../engine/storage/storage.ts';
import { useStore } from './store-tasks.ts';
import { findObstacles, obstacleTexts } from '../../../service/operations/operations.ts';

const CHANNEL_TIMEOUT_MS = 10_000;
const MAIL_TIMEOUT_MS = 15_000;

/**
 * Checks the whole set-up on this machine: everything that loading finds with the real secrets (tokens,
 * their strength and reuse, runners, models, channels, senders, mail), and what no file shows: modes, disk,
 * clock, the logins of channels and mailbox.
 */
export async function doctor(cli: Cli, flags: JsonFlags): Promise<void> {
  const { terminal } = cli;
  const file = findConfigFile(terminal, flags);
  await using bench = benchOf(terminal, file, { needSecrets: true, needToken: true });
  const { findings, summary, proofs, ...checked } = await bench.check();
  // A token may be missing, as after "sluice init", so everything else is checked without it.
  await using tokenless = benchOf(terminal, file, { needSecrets: true });
  const isTokenAlone = findings.every(
    ({ severity, code }) => severity !== 'error' || code === 'TOKEN_REQUIRED',
  );
  const { generation } = isTokenAlone && !checked.generation ? await tokenless.load() : checked;
  const checks = [
    checkConfiguration(findings, generation === undefined ? NOT_LOOKED : summary),
    ...(generation === undefined ? [] : await furtherChecks(generation)),
  ];
  print(terminal, { checks, findings, proofs }, flags);
  if (checks.some(({ ok }) => !ok)) cli.setExitCode(1);
}

const NOT_LOOKED = 'mend the errors, then ask again: the rest was not looked at';

interface DoctorReport {
  readonly checks: readonly Check[];
  readonly findings: readonly Finding[];
  readonly proofs: readonly string[];
}

function print(terminal: Terminal, { checks, findings, proofs }: DoctorReport, { json }: JsonFlags): void {
  if (json === true) {
    return printJson(terminal, 'doctor', { checks, findings: findings.map(findingToJson) });
  }
  if (findings.length > 0) terminal.out(formatFindings(findings, { color: terminal.color }));
  for (const { area, ok, text } of checks)
    terminal.out(`${ok ? 'ok     ' : 'problem'}  ${area.padEnd(13)}  ${text}`);
  for (const line of proofs) terminal.out(line);
}

async function furtherChecks(generation: Generation): Promise<readonly Check[]> {
  const { config } = generation;
  const [channels, mail] = await Promise.all([checkChannels(generation), checkMail(config)]);
  return [
    ...(await checkMachine(config)),
    ...(await checkQueue(config)),
    ...checkSenders(generation),
    ...channels,
    checkRunner(config),
    mail,
  ];
}

function checkConfiguration(findings: readonly Finding[], rest: string): Check {
  const count = findings.length;
  if (count === 0) return { area: 'configuration', ok: true, text: `no findings: ${rest}` };
  const listed = `${String(count)} finding${count === 1 ? '' : 's'}, listed above`;
  return { area: 'configuration', ok: false, text: [listed, rest].filter(Boolean).join('; ') };
}

/** Each platform says whether the credentials are valid; no message is sent. */
async function checkChannels(generation: Generation): Promise<readonly Check[]> {
  const { settings } = generation.config;
  if (Object.keys(settings.channels).length === 0) {
    return [{ area: 'channels', ok: true, text: 'none: replies are stored and not delivered' }];
  }
  const verdicts = await tryChannels(settings, generation.channelCatalog, CHANNEL_TIMEOUT_MS);
  return verdicts.map(({ channel, ok, account, code, message }) => ({
    area: 'channels',
    ok,
    text: clearLine(ok ? `${channel} knows this account: ${account}` : `${channel}: ${code}: ${message}`),
  }));
}

function checkRunner({ settings: { gateway } }: LoadedConfig): Check {
  const kind = gateway.runners[gateway.runner]?.kind ?? 'unknown';
  return {
    area: 'runner',
    ok: kind !== 'echo',
    text:
      kind === 'echo'
        ? 'echo: no agent runs; set gateway.runner'
        : `${gateway.runner} (${kind}); "sluice runners check" tries each of them with a turn`,
  };
}

async function checkMail({ settings: { hooks } }: LoadedConfig): Promise<Check> {
  const { mail } = hooks;
  if (mail === undefined) return { area: 'mail', ok: true, text: 'no mailbox is read' };
  const what = `the mailbox ${mail.account} (${mail.kind})`;
  try {
    const folders = await tryMailbox(mail, MAIL_TIMEOUT_MS);
    return {
      area: 'mail',
      ok: true,
      text: `${what} takes the login and opens ${folders.map(({ path }) => path).join(', ')}`,
    };
  } catch (error) {
    if (!(error instanceof MailFailure)) throw error;
    const text = clearLine(`${what}: ${error.message}; ${MAIL_REMEDIES[error.kind]}`);
    return { area: 'mail', ok: false, text };
  }
}

const MAIL_REMEDIES: Readonly<Record<MailFailure['kind'], string>> = {
  authentication: 'run "sluice webhooks mail setup" to log in again',
  settings: 'correct hooks.mail',
  connection: 'look whether this machine reaches the server, and at hooks.mail.host, port and security',
};

/** Runs may wait because somebody paused them, or because their mapping is at its limit. */
async function checkQueue({ settings }: LoadedConfig): Promise<readonly Check[]> {
  const { url } = settings.storage;
  // A service that never ran has no store, and this command makes none.
  const file = findStoreFile(url);
  if (file !== undefined && !existsSync(file)) return [];
  try {
    const { pauses, limited } = await useStore(url, (storage) => findObstacles(storage, settings.gateway));
    const lines = obstacleTexts({ pauses, limited }, Date.now());
    if (lines.length === 0) return [{ area: 'queue', ok: true, text: 'nothing is paused or at a limit' }];
    return lines.map((text) => ({ area: 'queue', ok: false, text }));
  } catch (error) {
    return [{ area: 'queue', ok: false, text: error instanceof Error ? error.message : String(error) }];
  }
}

/** A shared secret with fewer characters can be guessed from one signed request, away from this service. */
const MIN_SECRET_CHARS = 16;

/** The secrets of senders must be there, be long enough, and be used in one place only. */
function checkSenders({ config, table }: Generation): readonly Check[] {
  const owners = tokenOwners(config.settings);
  const proofs = [...table.paths].flatMap((path) => {
    const { verify } = table.settingsOf(path);
    return verify === undefined ? [] : [{ path, scheme: verify.settings.scheme, secrets: verify.secrets }];
  });
  const problems = proofs
    .filter(({ scheme }) => !PUBLIC_KEYS.has(scheme) && findSender(scheme)?.secret?.public !== true)
    .flatMap(({ path, ...proof }) => secretProblems(path, { ...proof, owners }));
  if (problems.length > 0) return problems;
  const count = proofs.length;
  const text =
    count === 0 ? 'no path has a proof of its own' : `${String(count)} paths have a proof of their own`;
  return [{ area: 'senders', ok: true, text }];
}

/** What a secret of a sender must not equal, by its value. */
function tokenOwners({ hooks, gateway }: Generation['config']['settings']): Map<string, string> {
  const owners = new Map<string, string>();
  for (const token of [hooks.token, ...hooks.previousTokens])
    if (token !== undefined) owners.set(token, 'hooks.token');
  if (gateway.token !== undefined) owners.set(gateway.token, 'gateway.token');
  return owners;
}

const PUBLIC_KEYS: ReadonlySet<string> = new Set(['ed25519', 'ecdsa', 'oidc']);

interface PathSecrets {
  readonly scheme: string;
  readonly secrets: readonly string[];
  readonly owners: Map<string, string>;
}

function secretProblems(path: string, { scheme, secrets, owners }: PathSecrets): readonly Check[] {
  return secrets.flatMap((secret, index) => {
    const which = `/${path} (${scheme}), secret ${String(index + 1)}`;
    if (secret === '') return [senderProblem(`${which} is not set here: "sluice check" names its reference`)];
    const owner = owners.get(secret);
    owners.set(secret, owner ?? `/${path}`);
    const short = `${which} has fewer than ${String(MIN_SECRET_CHARS)} characters and can be guessed; make a longer one and set it at the sender, too`;
    const shared = `${which} is the same as that of ${owner}: who knows one of them can use both; give each a secret of its own`;
    return [
      ...(secret.length < MIN_SECRET_CHARS ? [senderProblem(short)] : []),
      ...(owner === undefined || owner === `/${path}` ? [] : [senderProblem(shared)]),
    ];
  });
}

function senderProblem(text: string): Check {
  return { area: 'senders', ok: false, text };
}
