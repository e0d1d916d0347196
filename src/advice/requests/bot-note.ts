/* That a bot wrote a message, which nothing in a mapping reads. */
import { say, write } from '../../finding.ts';
import type { AdviceNote } from './evaluation-advice.ts';
import type { Evaluation } from '../../hook/hook.ts';
import { valueAt } from '../../json.ts';
import type { CompiledMapping } from '../../mapping/mapping.ts';
import { conjunctsOf } from '../../mapping/facts.ts';
import type { HookRequest } from '../../request.ts';

/** Its condition, templates and keys, as they are written. */
function writtenIn({ match: { when }, templates }: CompiledMapping): string {
  const condition = when?.at.source.text.slice(when.at.start, when.at.end) ?? '';
  return [condition, ...[...templates.values()].map(({ source }) => source)].join('\n');
}

/** Notes on a request that a mapping took. */
export function unreadKinds(evaluation: Evaluation, request: HookRequest): readonly AdviceNote[] {
  const { mapping, outcome } = evaluation;
  if (mapping === undefined || mapping.transform !== undefined || outcome.kind !== 'accepted') return [];
  const bot = botNote(mapping, evaluation, request);
  return bot === undefined ? [] : [bot];
}

/** Where chats say that a bot wrote a message. */
const BOTS: readonly (readonly string[])[] = [
  ['event', 'bot_id'],
  ['message', 'from', 'is_bot'],
  ['author', 'bot'],
  ['message', 'author', 'bot'],
];

/** A message of a bot: the agent's own answer may come back so, and makes the next one. */
function botNote(
  mapping: CompiledMapping,
  { trace }: Evaluation,
  { payload }: HookRequest,
): AdviceNote | undefined {
  if (mapping.ignoreSenders !== undefined) return undefined;
  const written = writtenIn(mapping);
  const path = BOTS.find((keys) => {
    const value = valueAt(payload, keys);
    return (
      !written.includes(keys.at(-1) ?? '') && (value === true || (typeof value === 'string' && value !== ''))
    );
  })?.join('.');
  if (path === undefined) return undefined;
  const rule = trace.considered.find(({ matched }) => matched)?.nodes?.[0]?.rule;
  const leaf = { '!': { var: path } };
  const when = JSON.stringify(rule === undefined ? leaf : { and: [...conjunctsOf(rule), leaf] });
  const text = say`${path} says that a bot wrote this: where the agent answers in this chat, its own answers come back so, and each makes the next run. ${write(`when: ${when}`, undefined, 'to leave them out')}`;
  return { code: 'written_by_bot', text, names: [path], at: mapping.match.when?.at ?? mapping.at };
}
