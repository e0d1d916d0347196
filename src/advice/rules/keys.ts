/** Keys of a mapping that are in order one by one, and do not do what they were written for. */
import { say } from '../../finding.ts';
import type { MappingSubject } from '../../mapping/facts.ts';
import { look, replacing, type Found } from '../rule.ts';

/** The last names of fields that only an answer has, with the one that everything has: Slack, Telegram, Teams. */
const OF_ANSWERS: readonly (readonly [field: string, own: string])[] = [
  ['thread_ts', 'ts'],
  ['reply_to_message.message_id', 'message_id'],
  ['replyToId', 'id'],
];

/** A session key of answers, where no condition sees to it that only these come. */
function ofAnswers({ source, located }: MappingSubject): readonly Found[] {
  const { sessionKey, match, transform, action = 'agent' } = source;
  if (sessionKey === undefined || transform !== undefined || action !== 'agent') return [];
  const condition = JSON.stringify(match?.when ?? null);
  for (const [written, path = ''] of sessionKey.matchAll(/\{\{\s*([\w.]{1,100})\s*\}\}/g)) {
    const [field, own] = OF_ANSWERS.find(([one]) => path === one || path.endsWith(`.${one}`)) ?? [];
    if (field === undefined || own === undefined || condition.includes(field)) continue;
    const meant = `default ${path} ${path.slice(0, -field.length)}${own}`;
    const quote = sessionKey.includes("'") ? '"' : "'";
    const found = {
      message: say`only an answer has ${path}: all other requests share one conversation`,
      at: located.place(['sessionKey']),
      hint: say`write sessionKey: ${quote}${sessionKey.trim().replace(written, () => `{{${meant}}}`)}${quote}`,
    };
    return [replacing(found, path, meant)];
  }
  return [];
}

export const KEYS = [look({ on: 'mapping', codes: ['SESSION_KEY_OF_ANSWERS'], find: ofAnswers })];
