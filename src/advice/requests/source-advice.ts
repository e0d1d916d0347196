/* What was meant by a `match.source` that did not hold: it is compared with the field `source` of the body as a whole. */
import { howDifferent } from './difference.ts';
import { isJsonObject, type JsonValue } from '../../json.ts';
import { conjunctsOf, type CompiledMapping, type ConsideredMapping } from '../../mapping/mapping.ts';
import type { HookRequest } from '../../request.ts';
import { findText } from './near-paths.ts';
import { fieldsOf, scalarsIn } from './rule-operands.ts';

/** Where the text stands in the body, with the condition to write in place of it. */
export function adviseOnSource(
  { mapping, failed }: ConsideredMapping,
  request: HookRequest,
): string | undefined {
  if (failed?.part !== 'source') return undefined;
  const { expected, found } = failed;
  // Of a body without the field there is a note of the setting.
  if (found === undefined) return undefined;
  const isAlmost = /upper and lower case|white space|punctuation/.test(howDifferent(found, expected) ?? '');
  if (isAlmost) return `write source: ${JSON.stringify(found)} in match, as it is sent`;
  const path = pathOf(found, expected) ?? elsewhere(expected, request);
  const whole = isJsonObject(found)
    ? `source is an object in this body; its fields are ${fieldsOf(found)}`
    : '';
  if (path === undefined)
    return whole === '' ? undefined : `${whole}: name one of them in when, as source.NAME`;
  const what = `source is compared with the field "source" of the body${isJsonObject(found) ? ', here an object' : ''}; the text is at ${path}`;
  return `${what}: remove source from match and write when: ${conditionWith(mapping, path, { expected, request })}`;
}

/** The field of the object with exactly this text. */
function pathOf(found: JsonValue, expected: string): string | undefined {
  for (const { path, value } of isJsonObject(found) ? scalarsIn(found) : [])
    if (value === expected) return `source.${path}`;
  return undefined;
}

function elsewhere(expected: string, request: HookRequest): string | undefined {
  const text = findText(expected, request, undefined);
  return text?.text === expected ? text.at : undefined;
}

/** The condition of the mapping with the comparison before its other parts. */
function conditionWith(
  { match: { when } }: CompiledMapping,
  path: string,
  { expected, request }: { readonly expected: string; readonly request: HookRequest },
): string {
  const rule = when?.trace({ request }).nodes[0]?.rule;
  const own = { '===': [{ var: path }, expected] };
  return JSON.stringify(rule === undefined ? own : { and: [own, ...conjunctsOf(rule)] });
}
