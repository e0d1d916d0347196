/* Fields that say of which kind something is, and that nothing in a mapping reads: what a bot wrote. */
import type { AdviceNote } from './evaluation-advice.ts';
import type { Evaluation } from '../../hook/hook.ts';
import { valueAt } from '../../json.ts';
import { conjunctsOf, type CompiledMapping } from '../../mapping/mapping.ts';
import type { HookRequest } from '../../request.ts';

/** What happened, at the top of a body or one level below it. */
export const OF_A_KIND =
  /^(?:[A-Za-z_][\w-]*\.)?(?:action|event|(?:event|change)_?(?:type|name)|type|kind|status|state)$/i;
/** How bad, how far or of which sort it is, wherever that stands. */
export const OF_A_SORT =
  /(?:^|[._-])(?:severity|level|priority|urgency|reason|result|outcome|conclusion|phase|stage|category|classification|topic|trigger|mode|environment|env|\w*type|\w*status|\w*state)$/i;

/** What happens to a thing first, or is mostly what is waited for. */
const FIRST_OF_ALL =
  /(?:^|[._ /-])(?:opened|created?|added|new|firing|triggered|failed|failure|down|published|critical|fatal|permanent|error|urgent|high|production|prod)$/i;
/** Where it ends: what began before it is seldom waited for. */
const LAST_OF_ALL = /(?:^|[._ /-])(?:completed|finished|succeeded|success|done|final)$/i;

/** The kind that is most likely the one that is meant. */
export function likeliestKind(values: readonly string[]): string | undefined {
  const found = [FIRST_OF_ALL, LAST_OF_ALL].map((form) => values.find((value) => form.test(value)));
  return found.find((value) => value !== undefined) ?? values[0];
}

/** Its condition, templates and keys, as they are written. */
export function writtenIn({ match: { when }, templates }: CompiledMapping): string {
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
  const text = `${path} says that a bot wrote this: where the agent answers in this chat, its own answers come back so, and each makes the next run. To leave them out write when: ${when}`;
  return { code: 'written_by_bot', text, names: [path], at: mapping.match.when?.at ?? mapping.at };
}
