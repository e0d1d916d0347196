import {
  MAIL_PROVIDERS,
  type MailProvider,
  type MailProviderName,
  type SetupAnswers,
} from '../../../service/mail/mail.ts';
import type { ConfigFlags } from '../config-file.ts';
import type { Asker } from './mail-asker.ts';
import { CliError } from '../terminal.ts';

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

/** Where the mailbox is. */
export async function askProvider(
  ask: Asker,
  { provider }: MailSetupFlags,
): Promise<{ readonly name: MailProviderName; readonly provider: MailProvider }> {
  const names = Object.keys(MAIL_PROVIDERS) as MailProviderName[];
  const name =
    provider ??
    (await ask.choose('--provider', 'Where is the mailbox?', {
      choices: names.map((value) => ({ value, label: MAIL_PROVIDERS[value].title })),
    }));
  return { name, provider: MAIL_PROVIDERS[name] };
}

/** Everything but the secret: from the flags, and asked where they are silent. */
export async function askAnswers(
  ask: Asker,
  flags: MailSetupFlags,
  provider: MailProvider & { readonly isGmailApi: boolean },
): Promise<SetupAnswers> {
  const account = flags.account ?? (await ask.text('--account', 'Which address?', isAddress));
  const host = flags.host ?? provider.host ?? (await ask.text('--host', 'Name of its IMAP server?', isHost));
  const auth = await askAuth(ask, flags, provider);
  const { port, security, user, folder, from, subject, since, hookPath } = flags;
  const common = { account, host, auth, port, security, user, folders: folder, from, subject, since };
  if (!provider.isGmailApi) return { ...common, kind: 'imap', path: hookPath };
  const topic =
    flags.topic ?? (await ask.text('--topic', 'Which Pub/Sub topic? (projects/P/topics/T)', isTopic));
  return { ...common, kind: 'gmail', path: hookPath, topic, ...(await askNotices(ask, flags)) };
}

async function askAuth(
  ask: Asker,
  flags: MailSetupFlags,
  provider: MailProvider,
): Promise<SetupAnswers['auth']> {
  const [only] = provider.auth.length === 1 ? provider.auth : [];
  const choices = provider.auth.map((value) => ({
    value,
    label: value === 'password' ? 'with an app password' : 'with OAuth2, in the browser',
  }));
  const auth = flags.auth ?? only ?? (await ask.choose('--auth', 'How do you log in?', { choices }));
  if (provider.auth.includes(auth)) return auth;
  throw new CliError(`${provider.title} takes ${provider.auth.join(' or ')} only; leave --auth out`, 2);
}

/** How notices of new mail come from Pub/Sub. */
async function askNotices(
  ask: Asker,
  flags: MailSetupFlags,
): Promise<Pick<SetupAnswers, 'subscription' | 'push'>> {
  const { subscription, pushAudience, pushAccount } = flags;
  const wantsPush = pushAudience !== undefined || pushAccount !== undefined;
  if (wantsPush && subscription !== undefined) {
    throw new CliError('notices are pulled or pushed: leave out --subscription or the options of push', 2);
  }
  const isPulled = subscription !== undefined || (!wantsPush && (await askKindOfNotices(ask)) === 'pull');
  if (isPulled) {
    const question = 'Which pull subscription? (projects/P/subscriptions/S)';
    return { subscription: subscription ?? (await ask.text('--subscription', question, isSubscription)) };
  }
  return { push: await askPush(ask, flags) };
}

/** What a push subscription calls with. */
async function askPush(
  ask: Asker,
  { pushAudience, pushAccount }: MailSetupFlags,
): Promise<NonNullable<SetupAnswers['push']>> {
  const audience =
    pushAudience ?? (await ask.text('--push-audience', 'Which audience does it name?', isAddress));
  const serviceAccount =
    pushAccount ?? (await ask.text('--push-account', 'Which service account calls?', isServiceAccount));
  return { audience, serviceAccount };
}

function askKindOfNotices(ask: Asker): Promise<'pull' | 'push'> {
  return ask.choose('--subscription or --push-audience', 'How do notices of new mail come?', {
    choices: [
      { value: 'pull', label: 'Sluice fetches them: nothing has to be reachable from outside' },
      { value: 'push', label: 'Pub/Sub calls Sluice: it needs an https address' },
    ],
  });
}

/** What is wrong with an answer that is not of this form. */
const formed =
  (form: RegExp, expected: string) =>
  (value: string): string | undefined =>
    form.test(value) ? undefined : expected;

const isServiceAccount = formed(
  /^[^\s@]+@[^\s@]+$/,
  'an address such as push@project.iam.gserviceaccount.com',
);
const isTopic = formed(/^projects\/[^/\s]+\/topics\/[^/\s]+$/, 'a name such as projects/P/topics/T');
const isSubscription = formed(
  /^projects\/[^/\s]+\/subscriptions\/[^/\s]+$/,
  'a name such as projects/P/subscriptions/S',
);
export const isAddress = formed(/^\S+$/, 'an address has no spaces and is not empty');
const isHost = formed(/^[\w.:-]+$/, 'a name such as imap.example.com');
