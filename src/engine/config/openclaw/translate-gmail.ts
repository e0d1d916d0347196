import { say } from '../../../base/finding.ts';
import type { Finding, LocatedValue, Path } from '../../../base/document/document.ts';
import { recordAt, type Loss, type Move, type Moves } from './graft.ts';
import type { RunDefaults } from '../settings.ts';

const GMAIL: Path = ['hooks', 'gmail'];

/** Keys of `hooks.gmail` without a counterpart, and what that means; after OpenClaw's documentation (2026.9). */
const LOST: Readonly<Record<string, string>> = {
  pushToken: 'notices of new mail are pulled, so there is no push that it would protect',
  hookUrl: 'messages are delivered to the hook gmail of this configuration',
  serve: 'notices of new mail are pulled, so no listener is needed',
  tailscale: 'notices of new mail are pulled, so nothing has to be reachable from outside',
  renewEveryMinutes: 'the watch is renewed every day',
  allowUnsafeExternalContent: 'mail is marked as external; a mapping with match.path gmail can set this',
};

/**
 * Makes `hooks.mail` of `hooks.gmail`. Their gateway goes on to read the mailbox, so `serve` does not: it would start
 * every run twice.
 */
export function translateGmail(original: LocatedValue, result: Moves): void {
  const gmail = recordAt(original, GMAIL);
  if (gmail === undefined) return;
  const { account, topic } = gmail;
  const project = projectOf(topic);
  if (typeof account !== 'string' || account === '' || project === undefined) {
    result.lost.push({ path: GMAIL, lost: 'it needs an account, and a topic such as projects/P/topics/T' });
    return;
  }
  result.moves.push(
    ...Object.entries(ALWAYS).map(([key, value]) => mailMove(key, value, GMAIL)),
    mailMove('account', account, [...GMAIL, 'account']),
    mailMove('topic', topic, [...GMAIL, 'topic']),
    subscriptionMove(gmail, project),
    ...contentMoves(gmail),
  );
  result.lost.push(...lossesOf(gmail));
}

/** What every translated mailbox has. */
const ALWAYS = { version: 1, kind: 'gmail', run: false, path: 'gmail', accept: 'any' };

function projectOf(topic: unknown): string | undefined {
  return typeof topic === 'string' ? /^projects\/([^/\s]+)\/topics\/[^/\s]+$/.exec(topic)?.[1] : undefined;
}

function lossesOf(gmail: Readonly<Record<string, unknown>>): readonly Loss[] {
  return Object.keys(gmail).flatMap((key) => {
    const lost = Object.hasOwn(LOST, key) ? LOST[key] : undefined;
    return lost === undefined ? [] : [{ path: [...GMAIL, key], lost }];
  });
}

function mailMove(key: string, value: unknown, from: Path): Move {
  return { from, to: ['hooks', 'mail', key], value };
}

/** The whole name of the subscription, which may be written without its project, or not at all. */
function subscriptionMove(gmail: Readonly<Record<string, unknown>>, project: string): Move {
  const { subscription = 'sluice' } = gmail;
  const name = String(subscription);
  const full = name.includes('/') ? name : `projects/${project}/subscriptions/${name}`;
  const isWritten = subscription === name && 'subscription' in gmail;
  return mailMove('subscription', full, isWritten ? [...GMAIL, 'subscription'] : GMAIL);
}

/** Which mails are read, and how much of them. */
function contentMoves({ label, includeBody, maxBytes }: Readonly<Record<string, unknown>>): readonly Move[] {
  const moves: Move[] = [];
  if (typeof label === 'string') moves.push(mailMove('folders', [label], [...GMAIL, 'label']));
  if (includeBody === false) moves.push(mailMove('maxBodyChars', 0, [...GMAIL, 'includeBody']));
  else if (typeof maxBytes === 'number')
    moves.push(mailMove('maxBodyChars', maxBytes, [...GMAIL, 'maxBytes']));
  return moves;
}

/** Says who reads the mailbox, where it was translated. */
export function gmailFinding(original: LocatedValue, { moves }: Moves): readonly Finding[] {
  if (!moves.some(({ to }) => to[0] === 'hooks' && to[1] === 'mail')) return [];
  return [
    {
      severity: 'warning',
      code: 'MAIL_READ_BY_GATEWAY',
      message: say`the gateway reads the mailbox of hooks.gmail, so "sluice serve" does not read it`,
      at: original.place(GMAIL, 'key'),
      hint: say`connect it with "sluice webhooks mail setup" in a sluice.yaml with "extends: openclaw.json" to read it here, and end the watch of the gateway`,
    },
  ];
}

/** `hooks.gmail.model` and `.thinking`: for runs of the hook gmail whose mapping names none. */
export function gmailRunDefaults(original: LocatedValue): Readonly<Record<string, RunDefaults>> {
  const textAt = (key: string): string | undefined => {
    const { value } = original.at([...GMAIL, key]);
    return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
  };
  const model = textAt('model');
  const thinking = textAt('thinking');
  if (model === undefined && thinking === undefined) return {};
  return {
    gmail: { ...(model === undefined ? {} : { model }), ...(thinking === undefined ? {} : { thinking }) },
  };
}
