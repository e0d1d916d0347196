import { dirname, resolve } from 'node:path';
import type { Edit } from '../../../base/document/document.ts';
import { defined } from '../../../base/json.ts';
import { parseMailBlock, type MailBlock } from '../../../engine/config/config.ts';
import {
  GOOGLE_ENDPOINTS,
  loginWithBrowser,
  loginWithDevice,
  OAUTH_PROVIDERS,
  tryMailbox,
  writeOAuthFile,
  type GoogleEndpoints,
  type MailboxFolder,
  type MailProof,
  type OAuthFile,
  type OAuthLogin,
  type OAuthScopes,
} from '../../../service/mail/mail.ts';
import { listenForRedirect } from '../../../service/server/server.ts';
import type { Cli } from '../command-line.ts';
import { findConfigFile, type ConfigFlags } from '../config-file.ts';
import { printJson } from '../json.ts';
import { hideFolder, readEditable } from '../setup/write-plan.ts';
import { replaceFile, writeSecretFile } from '../../../base/write-file.ts';
import { CliError, type Terminal } from '../terminal.ts';
import { askFor, secretFor } from '../setup/ask.ts';
import { MAIL_PROVIDERS, type MailProvider, type MailProviderName } from './providers.ts';

export interface MailSetupFlags extends ConfigFlags {
  readonly provider?: MailProviderName;
  readonly account?: string;
  readonly host?: string;
  readonly port?: number;
  readonly security?: 'tls' | 'starttls' | 'none';
  readonly user?: string;
  readonly auth?: 'password' | 'oauth2';
  readonly passwordFile?: string;
  readonly clientId?: string;
  readonly clientSecretFile?: string;
  readonly folder?: readonly string[];
  readonly from?: readonly string[];
  readonly subject?: readonly string[];
  readonly since?: string;
  readonly hookPath?: string;
  readonly topic?: string;
  readonly subscription?: string;
  readonly pushAudience?: string;
  readonly pushAccount?: string;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

/** Where people log in; tests have servers of their own. */
export interface SetupWorld {
  readonly oauth: Readonly<
    Record<
      'google' | 'microsoft',
      { readonly endpoints: OAuthLogin['endpoints']; readonly scopes: OAuthScopes }
    >
  >;
  readonly google: GoogleEndpoints;
}

/** `hooks.mail` as it is written: without what equals a default. */
type WrittenBlock = Readonly<Record<string, unknown>>;

const PASSWORD_FILE = '.sluice/mail-password';
const OAUTH_FILE = '.sluice/mail-oauth.json';
const LOGIN_MS = 15 * 60_000;
const CONNECT_MS = 120_000;
/** A subscription that cannot be pulled is refused at once; ten mails show what this mailbox can prove. */
const LOOK = { pullMs: 3_000, newest: 10 };

/** Asks what is missing, logs in, tests the connection, and only then writes secret, block and preset. */
export async function setUpMail(
  cli: Cli,
  flags: MailSetupFlags,
  world: SetupWorld = { oauth: OAUTH_PROVIDERS, google: GOOGLE_ENDPOINTS },
): Promise<void> {
  const terminal = flags.json === true ? { ...cli.terminal, interactive: false } : cli.terminal;
  const file = findConfigFile(terminal, flags);
  const config = await readEditable(file);
  const before = config.root.at(['hooks', 'mail']).value;
  const providers = Object.keys(MAIL_PROVIDERS);
  const name = (flags.provider ??
    (await askFor(terminal, '--provider', 'Where is the mailbox?', providers))) as MailProviderName;
  const block = await blockOf(terminal, flags, name);
  const mail = parseMailBlock({ ...keptKeys(before, block), ...block });
  if (typeof mail === 'string') throw new CliError(mail, 2);
  const isPassword = mail.kind === 'imap' && mail.auth.kind === 'password';
  const login = isPassword ? undefined : await logIn(terminal, flags, { mail, name, world });
  const password = isPassword ? await passwordFor(terminal, flags) : '';
  terminal.err(`testing the connection to ${mail.kind === 'imap' ? mail.host : world.google.gmail}`);
  const opened = await tryMailbox(
    isPassword ? { ...mail, auth: { kind: 'password', password } } : mail,
    CONNECT_MS,
    { ...LOOK, google: world.google, token: () => Promise.resolve(login?.accessToken ?? '') },
  );
  const { canProve, says } = findProver(opened.flatMap(({ proofs }) => proofs));
  const isDecided = typeof before === 'object' && before !== null && 'accept' in before;
  const written = canProve && !isDecided ? { ...block, accept: 'verified' } : block;
  const edited = config.edited([
    ...blockEdits(written, before),
    ...presetEdits(config.root.at(['hooks', 'presets']).value),
  ]);
  if (flags.dryRun !== true) {
    await keepSecret(dirname(file), login ?? password);
    await replaceFile(file, edited);
  }
  const secretFile = isPassword ? PASSWORD_FILE : OAUTH_FILE;
  const changed = edited === config.text ? [] : [file];
  if (flags.json === true) {
    const files = flags.dryRun === true ? [] : [secretFile, ...changed];
    const folders = opened.map(({ path, messages }) => defined({ path, messages }));
    printJson(terminal, 'webhooks mail setup', { mail: written, folders, written: files });
  } else {
    for (const folder of opened) terminal.err(connectedLine(folder));
    terminal.err(written === block ? says : `${says}; hooks.mail.accept is verified`);
    if (flags.dryRun === true) terminal.out(edited);
    for (const line of closingLines(flags, file, secretFile)) terminal.err(line);
  }
  if (config.root.at(['hooks', 'enabled']).value !== true)
    terminal.err('hooks are off in this configuration: set hooks.enabled to true');
}

/** App passwords are shown in groups of four, and accepted without the spaces. */
async function passwordFor(terminal: Terminal, { passwordFile }: MailSetupFlags): Promise<string> {
  const typed = await secretFor(terminal, '--password-file', passwordFile, 'The password?');
  return /^[a-z]{4}(?: [a-z]{4}){3}$/.test(typed) ? typed.replaceAll(' ', '') : typed;
}

/** The block refers to secrets by name, and never contains them. */
async function blockOf(
  terminal: Terminal,
  flags: MailSetupFlags,
  name: MailProviderName,
): Promise<WrittenBlock> {
  const { folder: folders, from, subject, since, hookPath: path } = flags;
  const account = flags.account ?? (await askFor(terminal, '--account', 'Which address?'));
  const kind = name === 'gmail-api' ? 'gmail' : 'imap';
  const place = await (kind === 'gmail'
    ? gmailKeys(terminal, flags)
    : imapKeys(terminal, { ...flags, account }, name));
  return defined({ version: 1, kind, account, ...place, folders, from, subject, since, path });
}

async function imapKeys(terminal: Terminal, flags: MailSetupFlags, name: MailProviderName): Promise<object> {
  const { account, port, security, user } = flags;
  const provider: MailProvider = MAIL_PROVIDERS[name];
  const host = flags.host ?? provider.host ?? (await askFor(terminal, '--host', 'Name of its IMAP server?'));
  const [only] = provider.auth.length === 1 ? provider.auth : [];
  const auth = (flags.auth ??
    only ??
    (await askFor(terminal, '--auth', 'How do you log in?', provider.auth))) as MailProvider['auth'][number];
  if (!provider.auth.includes(auth))
    throw new CliError(`${name} takes ${provider.auth.join(' or ')} only; leave --auth out`, 2);
  return defined({
    host,
    port,
    security: security === 'tls' ? undefined : security,
    user: user === account ? undefined : user,
    auth:
      auth === 'password'
        ? { kind: auth, password: { file: PASSWORD_FILE } }
        : { kind: auth, oauthFile: OAUTH_FILE },
  });
}

/** Notices of new mail are pulled, unless the options of push say otherwise. */
async function gmailKeys(terminal: Terminal, flags: MailSetupFlags): Promise<object> {
  const { pushAudience: audience, pushAccount: serviceAccount } = flags;
  const topic =
    flags.topic ?? (await askFor(terminal, '--topic', 'Which Pub/Sub topic? (projects/P/topics/T)'));
  const isPushed = audience !== undefined || serviceAccount !== undefined;
  const subscription =
    flags.subscription ??
    (isPushed
      ? undefined
      : await askFor(terminal, '--subscription', 'Which pull subscription? (projects/P/subscriptions/S)'));
  const push = isPushed ? defined({ audience, serviceAccount }) : undefined;
  return defined({ topic, subscription, push, oauthFile: OAUTH_FILE });
}

interface Login {
  readonly mail: MailBlock;
  readonly name: MailProviderName;
  readonly world: SetupWorld;
}

async function logIn(
  terminal: Terminal,
  flags: MailSetupFlags,
  { mail, name, world }: Login,
): Promise<OAuthFile> {
  const provider = name === 'outlook' ? 'microsoft' : 'google';
  const { endpoints, scopes } = world.oauth[provider];
  const clientId = flags.clientId ?? (await askFor(terminal, '--client-id', 'Id of the OAuth2 client?'));
  const clientSecret =
    provider === 'microsoft'
      ? undefined
      : await secretFor(
          terminal,
          '--client-secret-file',
          flags.clientSecretFile,
          'Secret of the OAuth2 client?',
        );
  const isPushed = mail.kind === 'gmail' && mail.push !== undefined;
  const login: OAuthLogin = {
    provider,
    endpoints,
    client: { clientId, clientSecret },
    scope: isPushed ? scopes.gmailPush : scopes[mail.kind],
    signal: AbortSignal.timeout(LOGIN_MS),
  };
  if (endpoints.device !== undefined)
    return loginWithDevice(login, ({ url, code }) =>
      terminal.err(`open ${url} and type in the code ${code}`),
    );
  const redirect = await listenForRedirect();
  try {
    return await loginWithBrowser(login, {
      account: mail.account,
      redirect,
      show: (url) => terminal.err(`open this address in a browser of this machine and log in:\n\n${url}\n`),
    });
  } finally {
    redirect.close();
  }
}

async function keepSecret(directory: string, secret: OAuthFile | string): Promise<void> {
  if (typeof secret === 'string') await writeSecretFile(resolve(directory, PASSWORD_FILE), `${secret}\n`);
  else await writeOAuthFile(resolve(directory, OAUTH_FILE), secret);
  await hideFolder(directory);
}

/** Keys that say where the mailbox is and how it is opened. An absent key means its default. */
const CONNECTION_KEYS: readonly string[] = ['port', 'security', 'user', 'subscription', 'push'];

function isSameKind(before: unknown, block: WrittenBlock): before is WrittenBlock {
  if (typeof before !== 'object' || before === null) return false;
  const { version, kind } = before as WrittenBlock;
  return version === block['version'] && kind === block['kind'];
}

/** What stays as it is where nothing else is said, and is needed here. */
function keptKeys(before: unknown, block: WrittenBlock): object {
  const { folders, authServers } = isSameKind(before, block) ? before : {};
  return defined({ folders, authServers });
}

/** What has to change in a configuration so that it holds the block. */
function blockEdits(block: WrittenBlock, before: unknown): readonly Edit[] {
  if (!isSameKind(before, block)) return [{ path: ['hooks', 'mail'], value: block }];
  if (CONNECTION_KEYS.some((key) => key in before && !(key in block))) {
    // What was tested must be what is written: a port of another server must not stay.
    const kept = Object.entries(before).filter(([key]) => !CONNECTION_KEYS.includes(key));
    return [{ path: ['hooks', 'mail'], value: { ...Object.fromEntries(kept), ...block } }];
  }
  // The edit goes key by key, so that comments inside the block stay.
  const keys = Object.keys(block).filter((key) => JSON.stringify(before[key]) !== JSON.stringify(block[key]));
  return keys.map((key): Edit => ({ path: ['hooks', 'mail', key], value: block[key] }));
}

function presetEdits(presets: unknown): readonly Edit[] {
  const names = Array.isArray(presets) ? (presets as unknown[]) : [];
  if (names.includes('mail') || names.includes('gmail')) return [];
  return [{ path: ['hooks', 'presets'], value: [...names, 'mail'] }];
}

function closingLines(
  { dryRun, pushAudience }: MailSetupFlags,
  file: string,
  secretFile: string,
): readonly string[] {
  if (dryRun === true)
    return [`nothing was written; without --dry-run this goes to ${file}, and the secret to ${secretFile}`];
  return [
    `the secret is in ${secretFile}, next to ${file}, which now has hooks.mail and the preset`,
    ...(pushAudience === undefined
      ? []
      : ['let the push subscription call /hooks/mail-push of this service']),
    'new mail starts a run from the next start of "sluice serve" on',
  ];
}

/** Whether verified mail can be asked for here: most of the newest were checked, and one at least is verified. */
function findProver(proofs: readonly MailProof[]): { readonly canProve: boolean; readonly says: string } {
  const checkers = proofs.flatMap(({ by }) => by ?? []);
  const verified = proofs.filter(({ level }) => level === 'verified').length;
  const canProve = verified > 0 && checkers.length * 2 >= proofs.length;
  const found = `of the ${String(proofs.length)} newest mails ${String(checkers.length)} were checked, ${String(verified)} of them verified`;
  if (canProve)
    return { canProve, says: `who wrote a mail is proved here by ${checkers[0] ?? ''}: ${found}` };
  const remedy =
    'npm install mailauth checks signatures, hooks.mail.authServers names the server where it checks';
  return { canProve, says: `who wrote a mail is not proved here: ${found}; ${remedy}` };
}

function connectedLine({ path, messages }: MailboxFolder): string {
  return messages === undefined
    ? `connected: ${path}: mail that is there starts no run`
    : `connected: ${path} holds ${String(messages)} messages, of which none starts a run`;
}
