/*
 * Signed marks in the words of others, each an HTML comment on a line of its own:
 *
 *     <!-- sluice run=<run id> mac=<HMAC-SHA256 over the run id, base64url, 192 bits> -->
 *     <!-- sluice-mark run=<run id> mac=<the same, made with another key> -->
 *
 * The first is in each comment that Sluice wrote: a webhook about it is about our own words, and must not start another
 * run. The second is given to the agent of a run, which puts it into what it opens: its conversation is known by that
 * from then on. Whoever knows no secret cannot make a mark. One who copies the first into a comment of their own has
 * only that comment passed over, so it says nothing about trust; whether the second counts is decided by the store
 * (`agent-keys.ts` there). A mark counts in the author's own words alone: a reply that quotes one (lines that begin with
 * `>`), or shows it as code, is somebody else's.
 */
import { createHmac } from 'node:crypto';
import { isSameText } from './compare-secrets.ts';
import type { FoundMark } from './conversation.ts';

const MARK = /^ {0,3}<!-- (sluice|sluice-mark) run=([\w.:-]{1,128}) mac=([\w-]{32}) -->[ \t]*$/;
const FENCE = /^ {0,3}(`{3,}|~{3,})(.*)$/;
/** Four times what GitHub takes: what is longer is no comment. */
const MAX_CHARS = 262_144;
/** Marks in one text that are looked at. */
const MAX_MARKS = 8;

/** What a proof is for; one of another purpose proves nothing. */
export type MarkPurpose = 'comment mark' | 'conversation mark' | 'conversation token';

export interface CommentMark {
  /** Letters, digits, and `.` `:` `-` `_`, at most 128. */
  readonly runId: string;
  readonly secret: string;
}

/** A comment with its mark at the end; a code block or HTML comment that is open there is closed before it. */
export function markComment(text: string, { runId, secret }: CommentMark): string {
  let open: string | undefined;
  for (const line of linesOf(text)) open = fenceAfter(line, open);
  const closed = open === undefined ? text : `${text}\n${open}`;
  const ended = closed.lastIndexOf('<!--') > closed.lastIndexOf('-->') ? `${closed} -->` : closed;
  return `${ended}\n\n<!-- sluice run=${runId} mac=${proofOf('comment mark', runId, secret)} -->`;
}

/** Makes a mark that is a name, such as the `Message-ID` of a mail, with the same proof. */
export function markedName({ runId, secret }: CommentMark): string {
  return `sluice.${runId}.${proofOf('comment mark', runId, secret)}`;
}

/** The run behind a marked name; `runId` of the mark may have a part of its own behind the last dot. */
function findMarkedName(text: string, secrets: readonly string[]): string | undefined {
  const [, marked, mac] = /^<sluice\.([\w.-]{1,128})\.([\w-]{32})@/.exec(text) ?? [];
  if (marked === undefined || mac === undefined) return undefined;
  const isOurs = secrets.some((secret) => proves(mac, 'comment mark', marked, secret));
  return isOurs ? marked.replace(/\.\w+$/, '') : undefined;
}

/** The run behind a comment, or a name: the run id of a mark made with one of the secrets, in the comment's own words. */
export function findCommentMark(body: string, secrets: readonly string[]): string | undefined {
  if (body.startsWith('<sluice.')) return findMarkedName(body, secrets);
  const isOurs = ({ runId, mac }: FoundMark): boolean =>
    secrets.some((secret) => proves(mac, 'comment mark', runId, secret));
  return findMarks(body, 'sluice').find(isOurs)?.runId;
}

/** The line by which what an agent opens is known to be of its conversation. */
export const conversationMark = (runId: string, secret: string): string =>
  `<!-- sluice-mark run=${runId} mac=${proofOf('conversation mark', runId, secret)} -->`;

/** The marks in the author's own words, whoever made them. */
export function findMarks(body: string, kind: 'sluice' | 'sluice-mark'): readonly FoundMark[] {
  if (body.length > MAX_CHARS || !body.includes(`<!-- ${kind} run=`)) return [];
  const found: FoundMark[] = [];
  let open: string | undefined;
  for (const line of linesOf(body)) {
    const before = open;
    open = fenceAfter(line, open);
    const [, of, runId, mac] = before === undefined ? (MARK.exec(line) ?? []) : [];
    if (of === kind && runId !== undefined && mac !== undefined) found.push({ runId, mac });
    if (found.length === MAX_MARKS) break;
  }
  return found;
}

const linesOf = (text: string): readonly string[] => text.split(/\r\n|[\r\n]/);

/** The fence of the code block that is open after a line, given the one before it. */
function fenceAfter(line: string, open: string | undefined): string | undefined {
  const [, mark, rest = ''] = FENCE.exec(line) ?? [];
  if (mark === undefined) return open;
  if (open === undefined) return mark.startsWith('`') && rest.includes('`') ? undefined : mark;
  const isEnd = mark[0] === open[0] && mark.length >= open.length && rest.trim() === '';
  return isEnd ? undefined : open;
}

/** A proof that is published, so it is made with a key of its purpose alone: a secret may have other uses. */
export function proofOf(purpose: MarkPurpose, text: string, secret: string): string {
  const key = createHmac('sha256', secret).update(purpose).digest();
  return createHmac('sha256', key).update(text).digest('base64url').slice(0, 32);
}

export function proves(mac: string, purpose: MarkPurpose, text: string, secret: string): boolean {
  return isSameText(mac, proofOf(purpose, text, secret));
}
