/* A body that is a list, of a mapping that reads what its elements have: the lines of the mapping for one run per element. */
import { elementForm } from '../element-rules.ts';
import { formatPlace } from '../../document/document.ts';
import { nearestMisses } from './considered-notes.ts';
import { type AdviceNote } from './evaluation-advice.ts';
import { type Evaluation } from '../../hook/hook.ts';
import { fieldAt, isJsonObject, type JsonValue } from '../../json.ts';
import { isReserved, namesRead, type CompiledMapping } from '../../mapping/mapping.ts';
import type { HookRequest } from '../../request.ts';

/** Elements that are looked at. */
const MAX_ELEMENTS = 50;
/** Longer templates are not repeated. */
const MAX_SHOWN = 400;

/** Undefined where the body is no list, or nothing that was read is a field of its elements. */
export function listBodyNote(
  { mapping, trace: { considered } }: Evaluation,
  { payload }: HookRequest,
): AdviceNote | undefined {
  const nearest = nearestMisses(considered)[0];
  if (mapping !== undefined || nearest === undefined || !Array.isArray(payload)) return undefined;
  const elements = (payload as readonly JsonValue[]).slice(0, MAX_ELEMENTS).filter(isJsonObject);
  const ofElement = (name: string): string | undefined => {
    const own = name.replace(/^(?:item|payload)\./, '');
    return !isReserved(own) && elements.some((each) => fieldAt(each, own.split('.')) !== undefined)
      ? own
      : undefined;
  };
  const { id } = nearest.mapping;
  const rule = nearest.nodes?.[0]?.rule;
  const form = elementForm(rule, { id, list: 'payload', ofElement });
  if (form === undefined) return undefined;
  const lines = [form.when, ...forEachLines(nearest.mapping, ofElement)].map((line) => `\n  ${line}`);
  const text = [
    `the body is a list of ${payload.length}, and the condition reads a field of its elements: in ${id} (${formatPlace(nearest.mapping.at)}) write`,
    ...lines,
    '\nwhich makes a run of each element',
    form.file === undefined || nearest.mapping.transform !== undefined
      ? '; a transform that returns null for an element leaves it out'
      : `. To leave out its other elements add the line transform: ${id}.js to the mapping, and ${form.file}`,
  ].join('');
  return { code: 'body_is_list', text, names: [] };
}

/** Whether the mapping that came nearest goes through the list that the body is, so that nobody needs to be told. */
export function readsBodyAsList({ trace: { considered } }: Evaluation): boolean {
  const nearest = nearestMisses(considered)[0];
  const names = namesRead(nearest?.nodes?.[0]?.rule ?? null);
  return nearest?.mapping.forEach?.keys.length === 0 || names.includes('payload') || names.includes('');
}

/** What else is to be written where the mapping makes one run of the whole list. */
function forEachLines(
  { forEach, text, action }: CompiledMapping,
  ofElement: (name: string) => string | undefined,
): readonly string[] {
  if (forEach !== undefined) return [];
  const source = text?.source.trimEnd() ?? '';
  const key = action === 'wake' ? 'textTemplate' : 'messageTemplate';
  const isPlain = !/\{\{\s*[#/^&>{~]/.test(source) && source.length <= MAX_SHOWN;
  const written = source.replaceAll(
    /\{\{([^{}]*)\}\}/g,
    (_, inner: string) => `{{${namesOfItem(inner, ofElement)}}}`,
  );
  if (source === '' || !isPlain)
    return ['forEach: payload', `${key}: with item. before each name of an element`];
  return ['forEach: payload', `${key}: ${JSON.stringify(written)}`];
}

/** The names of an expression, outside of its texts and the names of its options. */
function namesOfItem(inner: string, ofElement: (name: string) => string | undefined): string {
  return inner.replaceAll(/"[^"]*"|'[^']*'|[\w@][\w.-]*(?![\w.-]*=)/g, (word) => {
    const own = /^["']/.test(word) ? undefined : ofElement(word);
    return own === undefined ? word : `item.${own}`;
  });
}
