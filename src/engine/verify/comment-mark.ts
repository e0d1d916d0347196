/*
 * The invisible mark of a comment that Sluice wrote: an HTML comment on a line of its own,
 *
 *     <!-- sluice run=<run id> mac=<HMAC-SHA256 over the run id, base64url, 192 bits> -->
 *
 * A webhook about such a comment is about our own words, and must not start another run. Whoever knows no secret cannot
 * make a mark. One who copies a mark into a comment of their own has only that comment passed over, so a mark says
 * nothing about trust. A mark counts in a comment's own words alone: a reply that quotes ours (lines that begin with
 * `>`), or shows it as code, is somebody else's.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';

const MARK = /^ {0,3}<!-- sluice run=([\w.:-]{1,128}) mac=([\w-]{32}) -->[ \t]*$/;
const FENCE = /^ {0,3}(`{3,}|~{3,})(.*)$/;
/** Four times what GitHub takes: what is longer is no comment. */
const MAX_CHARS = 262_144;

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
  return `${ended}\n\n<!-- sluice run=${runId} mac=${macOf(runId, secret)} -->`;
}

/** The same proof within a name, such as the `Message-ID` of a mail. */
export function markedName({ runId, secret }: CommentMark): string {
  return `sluice.${runId}.${macOf(runId, secret)}`;
}

/** The run behind a marked name; `runId` of the mark may have a part of its own behind the last dot. */
function findMarkedName(text: string, secrets: readonly string[]): string | undefined {
  const [, marked, mac] = /^<sluice\.([\w.-]{1,128})\.([\w-]{32})@/.exec(text) ?? [];
  if (marked === undefined || mac === undefined) return undefined;
  const isOurs = secrets.some((secret) => isEqual(mac, macOf(marked, secret)));
  return isOurs ? marked.replace(/\.\w+$/, '') : undefined;
}

/** The run behind a comment, or a name: the run id of a mark made with one of the secrets, in the comment's own words. */
export function findCommentMark(body: string, secrets: readonly string[]): string | undefined {
  if (body.startsWith('<sluice.')) return findMarkedName(body, secrets);
  if (body.length > MAX_CHARS || !body.includes('<!-- sluice run=')) return undefined;
  let open: string | undefined;
  for (const line of linesOf(body)) {
    const before = open;
    open = fenceAfter(line, open);
    const [, runId, mac] = before === undefined ? (MARK.exec(line) ?? []) : [];
    if (runId === undefined || mac === undefined) continue;
    if (secrets.some((secret) => isEqual(mac, macOf(runId, secret)))) return runId;
  }
  return undefined;
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

/** The secret is a channel's token: what is published is made with a key of this purpose alone. */
function macOf(runId: string, secret: string): string {
  const key = createHmac('sha256', secret).update('comment mark').digest();
  return createHmac('sha256', key).update(runId).digest('base64url').slice(0, 32);
}

function isEqual(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));
}
