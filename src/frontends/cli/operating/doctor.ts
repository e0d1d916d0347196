import { plural } from '../../../base/finding.ts';
import type { Finding } from '../../../base/document/document.ts';
import { findingToJson, formatFindings } from '../../../base/document/facts.ts';
import { findSender } from '../../../engine/senders/senders.ts';
import type { Generation } from '../../../service/generation/generation.ts';
import { MailFailure, tryMailbox } from '../../../service/mail/mail.ts';
import { loadConfig, type LoadedConfig } from '../../../engine/config/config.ts';
import { clearLine } from '../../../base/telemetry/telemetry.ts';
import { tryChannels } from '../setup/channel-tasks.ts';
import type { Cli } from '../command-line.ts';
import { findConfigFile, type JsonFlags } from '../config-file.ts';
import { printJson } from '../json.ts';
import type { Terminal } from '../terminal.ts';
import { checkAddress } from './doctor-address.ts';
import {
  attempt,
  bad,
  type Check,
  checkMachine,
  checkNode,
  checkRoom,
  findClock,
  good,
  isReached,
} from './doctor-machine.ts';
import { benchOf } from '../authoring/workbench.ts';
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
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
  const { summary, proofs, ...checked } = await bench.check();
  // What is missing keeps its reference, and everything else is looked at all the same.
  await using lenient = benchOf(terminal, file);
  const generation = checked.generation ?? (await lenient.load()).generation;
  const { config = generation?.config } =
    generation ?? (await loadConfig(file, { ...LENIENT, env: terminal.env }));
  // Who tries out mappings has chosen echo; the line of the runner says what it is.
  const isTrial = config !== undefined && !isReached(config.settings.server);
  const findings = checked.findings.filter(({ isGeneral }) => !isTrial || isGeneral !== true);
  const checks = [
    checkConfiguration(findings, checked.generation === undefined ? '' : summary),
    ...(config === undefined ? await checkWithoutFile(file) : await checkMachine(config)),
    ...(config === undefined ? [] : await furtherChecks(config, generation)),
  ];
  print(terminal, { checks, findings, proofs }, flags);
  if (checks.some(({ ok }) => !ok)) cli.setExitCode(1);
}

const LENIENT = { needSecrets: false, dev: true };
const NOT_LOOKED = bad(
  'settings',
  'the file has errors, so nothing that it sets was looked at: proxies, store, channels, mailbox, runner, address',
);

const checkWithoutFile = async (file: string): Promise<readonly Check[]> => [
  checkNode(process.versions.node),
  await findClock(file),
  checkRoom(dirname(file)),
  NOT_LOOKED,
];

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

/** Each looks for itself: what one of them lacks keeps no other from its place. */
async function furtherChecks(
  config: LoadedConfig,
  generation: Generation | undefined,
): Promise<readonly Check[]> {
  const mappings = 'mappings have errors: their proofs were not looked at';
  const found = await Promise.all([
    attempt('queue', () => checkQueue(config)),
    attempt('senders', async () =>
      generation === undefined ? [bad('senders', mappings)] : checkSenders(generation),
    ),
    attempt('channels', () => checkChannels(config, generation)),
    attempt('runner', async () => [checkRunner(config)]),
    attempt('mail', async () => [await checkMail(config)]),
    attempt('address', async () => [await findAddress(config, generation)]),
  ]);
  return found.flat();
}

/** Whether a setting still has a reference to what is not set on this machine. */
const lacksSecret = (settings: unknown): boolean => /\$\{[^}]*\}|"file":"/.test(JSON.stringify(settings));

async function findAddress(config: LoadedConfig, generation: Generation | undefined): Promise<Check> {
  const of = { config, table: generation?.table };
  return hasStore(config)
    ? useStore(config.settings.storage.url, (storage) => checkAddress(of, storage))
    : checkAddress(of, undefined);
}

/** A service that never ran has no store, and this command makes none. */
function hasStore({ settings }: LoadedConfig): boolean {
  const file = findStoreFile(settings.storage.url);
  return file === undefined || existsSync(file);
}

function checkConfiguration(findings: readonly Finding[], rest: string): Check {
  if (findings.length === 0) return good('configuration', `no findings: ${rest}`);
  return bad('configuration', [plural(findings.length, 'finding'), rest].filter(Boolean).join('; '));
}

/** Each platform says whether the credentials are valid; no message is sent. */
async function checkChannels(
  { settings }: LoadedConfig,
  generation: Generation | undefined,
): Promise<readonly Check[]> {
  const all = Object.entries(settings.channels);
  if (all.length === 0) return [good('channels', 'none: replies are stored and not delivered')];
  const lacking = all.filter(([, each]) => generation === undefined || lacksSecret(each));
  const rest = { ...settings, channels: Object.fromEntries(all.filter((entry) => !lacking.includes(entry))) };
  const verdicts =
    generation === undefined ? [] : await tryChannels(rest, generation.channelCatalog, CHANNEL_TIMEOUT_MS);
  const why = generation === undefined ? 'mappings have errors' : 'a secret of it is not set here';
  return [
    ...verdicts.map(({ channel, ok, account, code, message }) => ({
      area: 'channels',
      ok,
      text: clearLine(ok ? `${channel} knows this account: ${account}` : `${channel}: ${code}: ${message}`),
    })),
    ...lacking.map(([channel]) => bad('channels', `${channel} was not asked: ${why}`)),
  ];
}

function checkRunner({ settings: { gateway, server } }: LoadedConfig): Check {
  const kind = gateway.runners[gateway.runner]?.kind ?? 'unknown';
  return kind === 'echo'
    ? (isReached(server) ? bad : good)('runner', 'echo: no agent runs; set gateway.runner')
    : good('runner', `${gateway.runner} (${kind}); "sluice runners check" tries each of them with a turn`);
}

async function checkMail({ settings: { hooks } }: LoadedConfig): Promise<Check> {
  const { mail } = hooks;
  if (mail === undefined) return good('mail', 'no mailbox is read');
  const what = `the mailbox ${mail.account} (${mail.kind})`;
  if (lacksSecret(mail)) return bad('mail', `${what} was not tried: a secret of it is not set here`);
  try {
    const folders = await tryMailbox(mail, MAIL_TIMEOUT_MS);
    return good('mail', `${what} takes the login and opens ${folders.map(({ path }) => path).join(', ')}`);
  } catch (error) {
    if (!(error instanceof MailFailure)) throw error;
    return bad('mail', clearLine(`${what}: ${error.message}; ${MAIL_REMEDIES[error.kind]}`));
  }
}

const MAIL_REMEDIES: Readonly<Record<MailFailure['kind'], string>> = {
  authentication: 'run "sluice webhooks mail setup" to log in again',
  settings: 'correct hooks.mail',
  connection: 'look whether this machine reaches the server, and at hooks.mail.host, port and security',
};

/** Runs may wait because somebody paused them, or because their mapping is at its limit. */
async function checkQueue(config: LoadedConfig): Promise<readonly Check[]> {
  const { settings } = config;
  const { url } = settings.storage;
  if (!hasStore(config)) return [];
  const { pauses, limited } = await useStore(url, (storage) => findObstacles(storage, settings.gateway));
  const lines = obstacleTexts({ pauses, limited }, Date.now());
  if (lines.length === 0) return [good('queue', 'nothing is paused or at a limit')];
  return lines.map((text) => bad('queue', text));
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
  return [good('senders', `paths with a proof of their own: ${String(proofs.length)}`)];
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
    if (secret === '')
      return [bad('senders', `${which} is not set here: "sluice check" names its reference`)];
    const owner = owners.get(secret);
    owners.set(secret, owner ?? `/${path}`);
    const short = `${which} has fewer than ${String(MIN_SECRET_CHARS)} characters and can be guessed; make a longer one and set it at the sender, too`;
    const shared = `${which} is the same as that of ${owner}: who knows one of them can use both; give each a secret of its own`;
    return [
      ...(secret.length < MIN_SECRET_CHARS ? [bad('senders', short)] : []),
      ...(owner === undefined || owner === `/${path}` ? [] : [bad('senders', shared)]),
    ];
  });
}
