/* Fields that say of which kind something is, and that nothing in a mapping reads: elements of a list, what a bot wrote. */
import { codeOfSteps, transformFile } from '../transform-files.ts';
import { formatPlace } from '../../document/document.ts';
import type { AdviceNote } from './evaluation-advice.ts';
import type { Evaluation } from '../../hook/hook.ts';
import { isJsonObject, valueAt, type JsonObject, type JsonValue } from '../../json.ts';
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
  return [elementKinds(mapping, request), botNote(mapping, evaluation, request)].filter(
    (each) => each !== undefined,
  );
}

const MAX_ELEMENTS = 50;

/** Elements of `forEach` of which some are most likely not meant: firing and resolved alerts in one request. */
function elementKinds(mapping: CompiledMapping, { payload }: HookRequest): AdviceNote | undefined {
  const { forEach, id, at } = mapping;
  const list = forEach === undefined ? undefined : valueAt({ payload }, ['payload', ...pathOf(forEach.text)]);
  if (!Array.isArray(list) || list.length < 2) return undefined;
  const elements = (list as readonly JsonValue[]).slice(0, MAX_ELEMENTS).filter(isJsonObject);
  const written = writtenIn(mapping);
  const field = Object.keys(elements[0] ?? {}).find(
    (key) =>
      (OF_A_KIND.test(key) || OF_A_SORT.test(key)) &&
      !/type$/i.test(key) &&
      !written.includes(`item.${key}`) &&
      valuesOf(elements, key).length > 1,
  );
  if (field === undefined) return undefined;
  const values = valuesOf(elements, field);
  const meant = likeliestKind(values);
  const checks = [`item${codeOfSteps([field])} === ${JSON.stringify(meant)}`];
  const file = transformFile({ id }, { lines: [], checks, returned: '{}' });
  const text = `the elements of ${forEach?.text ?? ''} differ in ${field} (${values.map((each) => `"${each}"`).join(', ')}), which nothing in the mapping reads, and each of them acts. For those with "${meant}" alone ${file}\nand in ${id} (${formatPlace(at)}), beside match, the line transform: ${id}.js. All else of the mapping stays`;
  return { code: 'element_kinds', text, names: [field], at };
}

const pathOf = (path: string): readonly string[] =>
  path === 'payload' ? [] : path.replace(/^payload\./, '').split('.');

/** The values of a field, where each element has a short word there. */
function valuesOf(elements: readonly JsonObject[], key: string): readonly string[] {
  const values = elements.map((each) => each[key]);
  const words = values.filter((value) => typeof value === 'string' && /^[\w.-]{1,24}$/.test(value));
  return words.length === values.length ? [...new Set(words as readonly string[])] : [];
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
