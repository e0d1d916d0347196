/* An event of another kind than the template was written for: all that it reads below one name is not there. */
import { say, write, type Finding } from '../../../base/finding.ts';
import type { Evaluation } from '../../../engine/hook/hook.ts';
import { isJsonObject, valueAt, type JsonValue } from '../../../base/json.ts';
import type { HookRequest } from '../../../base/request.ts';
import { requestFinding } from './findings.ts';
import type { Suggestions } from './near-paths.ts';
import { withDots } from './near-paths.ts';

const TEXTS: ReadonlySet<string> = new Set(['messageTemplate', 'textTemplate']);

/**
 * Says how such events are left out, only where it shows that the name is right and of other events: it is there and is
 * null, a field beside it has it in its own name, or it is the end of a longer path that is there but for it.
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
  const [first, ...others] = paths.map((path) => absentIn(withDots(path).replace(/^payload\./, ''), payload));
  if (first === undefined || others.some((each) => each?.path !== first.path)) return [];
  // Where the same stands under the rest of the path, the path is wrong, and not the event.
  const isMoved = paths.some((path) =>
    suggestions.get(path)?.names.some((name) => path.endsWith(`.${name.replace(/^payload\./, '')}`)),
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

/** The name on the path that is not there, where that is the event's doing. */
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

/** Names before the one that is not there: with fewer the path may as well be wrong. */
const MIN_THERE = 2;

/** `edited_message` beside `message`. */
const isKindOf = (key: string, name: string): boolean => key !== name && key.endsWith(`_${name}`);
