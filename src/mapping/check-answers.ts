/* Fields that only an answer has: a key that is made of one alone is the same for everything that begins a thread. */
import { say } from '../finding.ts';
import type { Reporter } from './mapping-codes.ts';
import type { MappingSource } from './mapping-schema.ts';

/** The last names of such fields, with the one that everything has: Slack, Telegram, Teams. */
const OF_ANSWERS: readonly (readonly [field: string, own: string])[] = [
  ['thread_ts', 'ts'],
  ['reply_to_message.message_id', 'message_id'],
  ['replyToId', 'id'],
];

/** A session key of answers, where no condition sees to it that only these come. */
export function checkAnswerKey({
  source,
  reporter,
}: {
  readonly source: MappingSource;
  readonly reporter: Reporter;
}): void {
  const { sessionKey, match, transform, action = 'agent' } = source;
  if (sessionKey === undefined || transform !== undefined || action !== 'agent') return;
  const condition = JSON.stringify(match?.when ?? null);
  for (const [written, path = ''] of sessionKey.matchAll(/\{\{\s*([\w.]{1,100})\s*\}\}/g)) {
    const [field, own] = OF_ANSWERS.find(([one]) => path === one || path.endsWith(`.${one}`)) ?? [];
    if (field === undefined || own === undefined || condition.includes(field)) continue;
    const meant = `default ${path} ${path.slice(0, -field.length)}${own}`;
    const quote = sessionKey.includes("'") ? '"' : "'";
    return reporter.report(['sessionKey'], {
      severity: 'warning',
      code: 'SESSION_KEY_OF_ANSWERS',
      message: say`only an answer has ${path}: all other requests share one conversation`,
      hint: say`write sessionKey: ${quote}${sessionKey.trim().replace(written, () => `{{${meant}}}`)}${quote}`,
      replace: { from: path, to: meant },
    });
  }
}
