/*
 * Templates that read fields of the elements of a list, though the mapping makes one run of the whole body: the body is
 * the list itself, or it has the list below a key.
 */
import { say, write, type Finding, type Sentence, type StoredFinding } from '../../../base/finding.ts';
import { requestFinding } from './findings.ts';
import type { Evaluation } from '../../../engine/hook/hook.ts';
import { fieldAt, isJsonObject, type JsonValue } from '../../../base/json.ts';
import { bodyPath, outsideLists, type BodyIndex, type KnownPath } from './body-index.ts';
import { pathsIn } from './missing-paths.ts';

/** What was read of the elements of one list. */
export interface ElementReads {
  /** Names that found nothing, as they are written. */
  readonly names: ReadonlySet<string>;
  readonly note: Finding;
}

/** Elements, lists and steps to them that are looked at. */
const MAX_ELEMENTS = 20;
const MAX_LISTS = 20;
const MAX_STEPS = 3;

/** The one list whose elements have the names that found nothing; undefined where that explains nothing. */
export function findElementReads(
  evaluation: Evaluation,
  { body, fields }: BodyIndex,
): ElementReads | undefined {
  const { mapping, trace } = evaluation;
  if (mapping === undefined || mapping.forEach !== undefined) return undefined;
  const empty = trace.templates
    .flatMap((template) => template.empty)
    .filter(({ around }) => around === undefined)
    .flatMap(({ expression }) => pathsIn(expression));
  if (empty.length === 0) return undefined;
  const lists = Array.isArray(body) ? [{ keys: [], value: body }] : fields();
  const [found, ...others] = lists
    .filter((list) => list.keys.length <= MAX_STEPS && outsideLists(list) && holdsObjects(list.value))
    .slice(0, MAX_LISTS)
    .map((list) => ({ list, names: new Set(empty.filter((name) => isOfElements(name, list))) }))
    .filter(({ list, names }) => names.size > (list.keys.length === 0 ? 0 : 1));
  // One name that a list has as well may mean another thing; of a body that is a list there is nothing else.
  if (found === undefined || others.length > 0) return undefined;
  const { keys, value } = found.list;
  const list = bodyPath(keys);
  const facts = { list, count: (value as readonly JsonValue[]).length };
  const isBody = keys.length === 0;
  const code = isBody ? 'body_is_list' : 'list_read';
  return {
    names: found.names,
    note: { ...requestFinding(code, sayElementReads(facts), isBody ? {} : { paths: [list] }), facts },
  };
}

const holdsObjects = (value: JsonValue): boolean =>
  Array.isArray(value) && (value as readonly JsonValue[]).some(isJsonObject);

/** A name as a field of the elements: bare, or behind the name of the list, with or without an s. */
function isOfElements(name: string, { keys, value }: KnownPath): boolean {
  const steps = name.replace(/^(?:payload|item)\./, '').split('.');
  const last = keys.at(-1) ?? '';
  // Through a list that stands deeper, in one event, a name is read to print all of them.
  const isBehind = keys.length === 1 && [last, last.replace(/s$/, '')].includes(steps[0] ?? '');
  const rest = isBehind ? steps.slice(1) : steps;
  const elements = (value as readonly JsonValue[]).slice(0, MAX_ELEMENTS);
  return rest.length > 0 && elements.some((element) => (fieldAt(element, rest) ?? null) !== null);
}

export function sayElementReads({ list, count }: NonNullable<StoredFinding['facts']>): Sentence {
  const size = `a list of ${String(count)}`;
  const what =
    list === 'payload'
      ? say`the body is ${size}`
      : say`${String(list)} is ${size}, and these names are of its elements`;
  return say`${what}: ${write(`forEach: ${String(list)}`, undefined, 'for one run per element')}, and each name as {{item.NAME}}; for one run of all put the names between {{#each ${String(list)}}} and {{/each}}`;
}
