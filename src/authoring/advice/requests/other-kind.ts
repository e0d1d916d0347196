import { say, write, type Finding } from '../../../base/finding.ts';
import type { Evaluation } from '../../../engine/hook/hook.ts';
import { isJsonObject, valueAt, type JsonValue } from '../../../base/json.ts';
import type { HookRequest } from '../../../base/request.ts';
import { withoutPayload } from '../../../engine/mapping/mapping.ts';
import { requestFinding } from './findings.ts';
import { type Suggestions, withDots } from './near-paths.ts';

const TEXTS: ReadonlySet<string> = new Set(['messageTemplate', 'textTemplate']);

/**
 * Says how to leave out events of another kind than the template was written for. It speaks only where the
 * name is right and belongs to other events: the field is there and is null, a field beside it has its name
 * as a part, or it is the end of a longer path.
 */
export function otherKindNotes(
  { mapping, trace }: Evaluation,
  { payload }: HookRequest,
  suggestions: Suggestions,
): readonly Finding[] {
  if (mapping === undefined || mapping.forEach !== undefined) return [];
  const paths = trace.templates
    .filter(({ field }) => TEXTS.has(field))
    .flatMap(({ empty }) => empty.map(({ expression }) => expression.trim()));
  const [first, ...others] = paths.map((path) => absentIn(withoutPayload(withDots(path)), payload));
  if (first === undefined || others.some((each) => each?.path !== first.path)) return [];
  // Where the same stands under the rest of the path, the path is wrong, and not the event.
  const isMoved = paths.some((path) =>
    suggestions.get(path)?.names.some((name) => path.endsWith(`.${withoutPayload(name)}`)),
  );
  if (isMoved) return [];
  const { when, pathAt } = mapping.match;
  const holds = JSON.stringify({ '!!': [{ var: first.path }] });
  const own = when?.at.source.text.slice(when.at.start, when.at.end) ?? '';
  const rule = own === '' || own.includes('\n') ? holds : `{"and":[${own},${holds}]}`;
  const how = own.includes('\n')
    ? say`add ${rule} to the list of "and" of its condition`
    : say`${write(`when: ${rule}`, 'in match')}`;
  const place = first.beside === undefined ? '' : say`, which has ${first.beside} in its place`;
  const text = say`${first.path} is ${first.how} in this event${place}: where such events are to do nothing, ${how}`;
  return [requestFinding('other_kind', text, { at: when?.at ?? pathAt ?? mapping.at, paths: [first.path] })];
}

/** The event, and not the path, is the reason that this name is not there. */
function absentIn(
  path: string,
  payload: JsonValue,
): { readonly path: string; readonly how: string; readonly beside?: string } | undefined {
  const keys = path.split('.');
  for (let end = 1; end < keys.length; end += 1) {
    const value = valueAt(payload, keys.slice(0, end));
    const name = keys.slice(0, end).join('.');
    if (value === null) return { path: name, how: 'null' };
    if (value !== undefined) continue;
    const parent = end === 1 ? payload : valueAt(payload, keys.slice(0, end - 1));
    if (!isJsonObject(parent)) return undefined;
    const last = keys[end - 1] ?? '';
    const beside = Object.keys(parent).find((key) => isKindOf(key, last) && isJsonObject(parent[key]));
    if (beside !== undefined) return { path: name, how: 'missing', beside };
    return end > MIN_THERE ? { path: name, how: 'missing' } : undefined;
  }
  return undefined;
}

/** With fewer names before the missing one, the path may as well be wrong. */
const MIN_THERE = 2;

const isKindOf = (key: string, name: string): boolean => key !== name && key.endsWith(`_${name}`);
