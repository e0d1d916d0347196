import { say } from '../../base/finding.ts';
import type { LoadedConfig } from '../../engine/config/config.ts';
import type { Finding } from '../../base/document/document.ts';
import { isBuiltInRoute } from '../../engine/hook/hook.ts';
import type { PathSettings, RoutingTable } from '../../engine/mapping/mapping.ts';

/** Issuer of the tokens of Pub/Sub; after Google's documentation of push subscriptions with authentication. */
const GOOGLE_ISSUER = 'https://accounts.google.com';
/** A notice is some hundred bytes long. */
const MAX_NOTICE_BYTES = 65_536;

type Push = NonNullable<Extract<NonNullable<MailSettings>, { kind: 'gmail' }>['push']>;
type MailSettings = LoadedConfig['settings']['hooks']['mail'];

/** Where Pub/Sub calls when a Gmail mailbox has changed; undefined where its notices are pulled. */
export function noticePath(mail: MailSettings): string | undefined {
  return pushOf(mail)?.path;
}

function pushOf(mail: MailSettings): Push | undefined {
  return mail?.kind === 'gmail' ? mail.push : undefined;
}

/** The table in which the path of notices asks for a token of Google that was made for this service. */
export function withNoticePath(table: RoutingTable, mail: MailSettings): RoutingTable {
  const push = pushOf(mail);
  if (push === undefined) return table;
  const { audience, serviceAccount } = push;
  const claims = { email: serviceAccount, email_verified: true };
  const proof = { scheme: 'oidc', issuer: GOOGLE_ISSUER, audience, claims } as const;
  const settings: PathSettings = {
    verify: { settings: proof, secrets: [] },
    maxBodyBytes: MAX_NOTICE_BYTES,
  };
  return {
    ...table,
    canTake: (path) => path === push.path || table.canTake(path),
    settingsOf: (path) => (path === push.path ? settings : table.settingsOf(path)),
    isOwned: (path) => path === push.path || table.isOwned(path),
  };
}

/** Finds a path of notices that something else answers to. */
export function findTakenNoticePath(
  { settings, root }: LoadedConfig,
  { mappings }: Pick<RoutingTable, 'mappings'>,
): readonly Finding[] {
  const { mail } = settings.hooks;
  const path = noticePath(mail);
  if (path === undefined) return [];
  const other = mappings.find(({ match }) => match.path === path);
  const taker = isBuiltInRoute(path)
    ? `/${path} itself`
    : path === mail?.path
      ? 'the messages of the mailbox'
      : other && `the mapping ${other.id}`;
  if (taker === undefined) return [];
  const written = root.at(['hooks', 'mail', 'push', 'path']).value !== undefined;
  return [
    {
      severity: 'error',
      code: 'NOTICE_PATH_TAKEN',
      message: say`notices of new mail come to ${path}, which ${taker} takes`,
      at: root.place(['hooks', 'mail', 'push', ...(written ? ['path'] : [])]),
      hint: say`give hooks.mail.push a path of its own, such as mail-push, and tell it to the push subscription`,
    },
  ];
}
