import { readFile, writeFile } from 'node:fs/promises';
import { text as readAll } from 'node:stream/consumers';
import { dirname, resolve } from 'node:path';
import { findMailProblem } from '../../../engine/config/config.ts';
import {
  checkMailbox,
  GOOGLE_ENDPOINTS,
  loginWithBrowser,
  loginWithDevice,
  MailFailure,
  OAUTH_FILE,
  OAUTH_PROVIDERS,
  PASSWORD_FILE,
  setupEdits,
  writeOAuthFile,
  writeSecretFile,
  writtenBlock,
  type GoogleEndpoints,
  type MailboxCheck,
  type MailProvider,
  type OAuthFile,
  type OAuthLogin,
  type OAuthScopes,
  type SetupAnswers,
} from '../../../service/mail/mail.ts';
import { listenForRedirect } from '../../../service/server/server.ts';
import type { Cli } from '../command-line.ts';
import { findConfigFile } from '../config-file.ts';
import { printJson } from '../json.ts';
import { openAsker, type Asker } from './mail-asker.ts';
import { askAnswers, askProvider, isAddress, type MailSetupFlags } from './mail-questions.ts';
import { CliError } from '../terminal.ts';
import { readEditable, replaceFile } from '../setup/write-plan.ts';

/** Where people log in; tests have servers of their own. */
export interface SetupWorld {
  readonly oauth: Readonly<
    Record<
      'google' | 'microsoft',
      {
        readonly endpoints: OAuthLogin['endpoints'];
        readonly scopes: OAuthScopes;
      }
    >
  >;
  readonly google: GoogleEndpoints;
}

/** How long a person has to log in in the browser. */
const LOGIN_MS = 15 * 60_000;

/** The secret of a mailbox, to be tested and then written. */
type Secret =
  | { readonly kind: 'password'; readonly value: string }
  | { readonly kind: 'oauth2'; readonly login: OAuthFile };

/** Asks what is missing, tests the connection, and only then writes secret, block and preset. */
export async function setUpMail(
  cli: Cli,
  flags: MailSetupFlags,
  world: SetupWorld = { oauth: OAUTH_PROVIDERS, google: GOOGLE_ENDPOINTS },
): Promise<void> {
  const file = findConfigFile(cli.terminal, flags);
  const config = await readEditable(file);
  const mail = config.root.at(['hooks', 'mail']).value;
  const ask = await openAsker(cli.terminal, flags.json !== true);
  const { provider, answers, block } = await askMailbox(ask, flags);
  const tested = { ...answers, folders: answers.folders ?? foldersOf(mail, answers.kind) };
  const { secret, check } = await connect(cli, { ask, flags, provider, answers: tested, world });
  const presets = config.root.at(['hooks', 'presets']).value;
  const edited = config.edited(setupEdits(block, { mail, presets }));
  if (flags.dryRun !== true) await write(file, secret, edited);
  report(cli, flags, { file, answers, check, edited, isSame: edited === config.text });
  if (config.root.at(['hooks', 'enabled']).value !== true)
    ask.say('hooks are off in this configuration: set hooks.enabled to true');
}

/** Everything but the secret, as answers and as the block of the configuration that they make. */
async function askMailbox(ask: Asker, flags: MailSetupFlags) {
  const { name, provider } = await askProvider(ask, flags);
  const answers = await askAnswers(ask, flags, { ...provider, isGmailApi: name === 'gmail-api' });
  const block = writtenBlock(answers);
  const problem = findMailProblem(block);
  if (problem !== undefined) throw new CliError(problem, 2);
  return { provider, answers, block };
}

/** Folders of the block that stay as they are where nothing else is said. */
function foldersOf(mail: unknown, kind: SetupAnswers['kind']): readonly string[] | undefined {
  const { kind: before, folders } = (mail ?? {}) as { readonly kind?: unknown; readonly folders?: unknown };
  const names = Array.isArray(folders) && before === kind ? (folders as unknown[]) : [];
  return names.length > 0 && names.every((name) => typeof name === 'string') ? names : undefined;
}

/** How often a password is asked for that the server refuses. */
const MAX_PASSWORDS = 3;

/** Asks for the secret and tests it; a person who mistyped is asked again. */
async function connect(
  cli: Cli,
  question: SecretQuestion,
): Promise<{ readonly secret: Secret; readonly check: MailboxCheck }> {
  const { ask, flags, answers, world } = question;
  for (let asked = 1; ; asked += 1) {
    const secret = await askSecret(cli, question);
    ask.say(`testing the connection to ${answers.host}`);
    try {
      return { secret, check: await checkMailbox(answers, mailboxSecret(secret), world.google) };
    } catch (error) {
      const isTyped = secret.kind === 'password' && flags.passwordFile === undefined;
      const isRefused = error instanceof MailFailure && error.kind === 'authentication';
      if (!isTyped || !isRefused || asked === MAX_PASSWORDS) throw error;
      ask.say(error.message);
    }
  }
}

function mailboxSecret(secret: Secret): { readonly kind: 'password' | 'token'; readonly value: string } {
  if (secret.kind === 'password') return secret;
  return { kind: 'token', value: secret.login.accessToken ?? '' };
}

interface SecretQuestion {
  readonly ask: Asker;
  readonly flags: MailSetupFlags;
  readonly provider: MailProvider;
  readonly answers: SetupAnswers;
  readonly world: SetupWorld;
}

async function askSecret(cli: Cli, question: SecretQuestion): Promise<Secret> {
  const { ask, flags, provider, answers } = question;
  if (answers.auth === 'oauth2') return { kind: 'oauth2', login: await logIn(cli, question) };
  if (provider.passwordHelp !== undefined && flags.passwordFile === undefined) ask.say(provider.passwordHelp);
  const value =
    flags.passwordFile === undefined
      ? await ask.secret('--password-file', 'The password (it is not shown)?')
      : await readSecretFlag(cli, flags.passwordFile);
  // App passwords are shown in groups of four, and taken without the spaces.
  return {
    kind: 'password',
    value: /^[a-z]{4}(?: [a-z]{4}){3}$/.test(value) ? value.replaceAll(' ', '') : value,
  };
}

async function readSecretFlag(cli: Cli, file: string): Promise<string> {
  const isInput = file === '-';
  const text = await (
    isInput ? readAll(process.stdin) : readFile(resolve(cli.terminal.cwd, file), 'utf8')
  ).catch((error: unknown) => {
    throw new CliError(
      `${file} cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown error'})`,
      2,
    );
  });
  const secret = text.replace(/(\r?\n)+$/, '');
  if (secret === '')
    throw new CliError(`${isInput ? 'standard input' : file} is empty: it has to hold the secret`, 2);
  return secret;
}

async function logIn(cli: Cli, { ask, flags, provider, answers, world }: SecretQuestion): Promise<OAuthFile> {
  const name = provider.oauth;
  if (name === undefined) throw new CliError(`${provider.title} has no OAuth2 login here; use a password`, 2);
  if (provider.oauthHelp !== undefined && flags.clientId === undefined) ask.say(provider.oauthHelp);
  const clientId = flags.clientId ?? (await ask.text('--client-id', 'Id of the OAuth2 client?', isAddress));
  const clientSecret = name === 'microsoft' ? undefined : await askClientSecret(cli, ask, flags);
  const { endpoints, scopes } = world.oauth[name];
  const login: OAuthLogin = {
    provider: name,
    endpoints,
    client: { clientId, clientSecret },
    scope: answers.push === undefined ? scopes[answers.kind] : scopes.gmailPush,
    signal: AbortSignal.timeout(LOGIN_MS),
  };
  if (endpoints.device === undefined) return loginInBrowser(login, ask, answers.account);
  return loginWithDevice(login, ({ url, code }) => ask.say(`open ${url} and type in the code ${code}`));
}

async function loginInBrowser(login: OAuthLogin, ask: Asker, account: string): Promise<OAuthFile> {
  const redirect = await listenForRedirect();
  try {
    return await loginWithBrowser(login, {
      account,
      redirect,
      show: (url) => ask.say(`open this address in a browser of this machine and log in:\n\n${url}\n`),
    });
  } finally {
    redirect.close();
  }
}

function askClientSecret(cli: Cli, ask: Asker, { clientSecretFile }: MailSetupFlags): Promise<string> {
  return clientSecretFile === undefined
    ? ask.secret('--client-secret-file', 'Secret of the OAuth2 client?')
    : readSecretFlag(cli, clientSecretFile);
}

async function write(file: string, secret: Secret, config: string): Promise<void> {
  await writeSecret(dirname(file), secret);
  await replaceFile(file, config);
}

async function writeSecret(directory: string, secret: Secret): Promise<void> {
  if (secret.kind === 'password')
    await writeSecretFile(resolve(directory, PASSWORD_FILE), `${secret.value}\n`);
  else await writeOAuthFile(resolve(directory, OAUTH_FILE), secret.login);
  // The folder is made with its own rule, so that no secret is committed by accident.
  await writeFile(resolve(directory, '.sluice', '.gitignore'), '*\n', { flag: 'wx' }).catch(() => undefined);
}

interface SetupResult {
  readonly file: string;
  readonly answers: SetupAnswers;
  readonly check: MailboxCheck;
  readonly edited: string;
  readonly isSame: boolean;
}

function report({ terminal }: Cli, flags: MailSetupFlags, result: SetupResult): void {
  const { file, answers, check, edited, isSame } = result;
  const isDry = flags.dryRun === true;
  const secretFile = answers.auth === 'password' ? PASSWORD_FILE : OAUTH_FILE;
  if (flags.json === true) {
    const written = isDry ? [] : [secretFile, ...(isSame ? [] : [file])];
    return printJson(terminal, 'webhooks mail setup', { mail: writtenBlock(answers), ...check, written });
  }
  for (const folder of check.folders) terminal.err(connectedLine(folder));
  if (isDry) terminal.out(edited);
  const lines = isDry
    ? [`nothing was written; without --dry-run this goes to ${file}, and the secret to ${secretFile}`]
    : writtenLines(result, secretFile);
  for (const line of lines) terminal.err(line);
}

/** What is where now, and what comes next. */
function writtenLines({ file, answers }: SetupResult, secretFile: string): readonly string[] {
  return [
    `the secret is in ${secretFile}, next to ${file}, which now has hooks.mail and the preset`,
    ...(answers.push === undefined
      ? []
      : ['let the push subscription call /hooks/mail-push of this service']),
    'new mail starts a run from the next start of "sluice serve" on',
  ];
}

function connectedLine({ path, messages }: MailboxCheck['folders'][number]): string {
  return messages === undefined
    ? `connected: ${path}: mail that is there starts no run`
    : `connected: ${path} holds ${String(messages)} messages, of which none starts a run`;
}
