/** A key of a mapping with an empty part: the field beside it that every request has, and the key to write. */
import type { Evaluation } from '../../hook/hook.ts';
import { isJsonObject, valueAt } from '../../json.ts';
import type { HookRequest } from '../../request.ts';
import { shown } from './field-list.ts';

/** Words that make another thing of a name: the `ts` of the thread, the `id` of the parent. */
const OF_ANOTHER =
  /^(?:thread|parent|root|reply|replied|in|to|top|original|first|starter|previous|quoted|referenced)$/;

/** By the key that has the part: what to write. */
export function fallbackKeys(
  { mapping, trace }: Evaluation,
  request: HookRequest,
): ReadonlyMap<string, string> {
  const keys = new Map<string, string>();
  for (const { field, empty } of trace.templates) {
    const template =
      field === 'sessionKey'
        ? mapping?.sessionKey?.source
        : field === 'debounce.key'
          ? mapping?.debounce?.key.source
          : undefined;
    const [{ expression } = { expression: '' }, ...more] = empty;
    if (template === undefined || more.length > 0 || keys.has(field)) continue;
    const beside = fieldBeside(expression.trim(), request);
    if (beside !== undefined) keys.set(field, fallbackText(template, { field, expression, beside }));
  }
  return keys;
}

interface Fallback {
  readonly field: string;
  readonly expression: string;
  readonly beside: { readonly path: string; readonly shown: string };
}

function fallbackText(template: string, { field, expression, beside }: Fallback): string {
  const path = expression.trim();
  const own = new RegExp(String.raw`\{\{\s*${path.replaceAll('.', String.raw`\.`)}\s*\}\}`);
  const written = template.trim().replace(own, () => `{{default ${path} ${beside.path}}}`);
  const name = field.split('.').at(-1) ?? field;
  return `${path} is missing here, and ${beside.path} is there (${beside.shown}): write ${name}: '${written}'`;
}

/** A field of the same object whose name is the end of the other's. */
function fieldBeside(path: string, { payload }: HookRequest): Fallback['beside'] | undefined {
  if (!/^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*$/.test(path)) return undefined;
  const steps = path.split('.');
  const name = steps.pop() ?? '';
  const isPrefixed = steps[0] === 'payload' && !(isJsonObject(payload) && 'payload' in payload);
  const object = valueAt(payload, isPrefixed ? steps.slice(1) : steps);
  if (!isJsonObject(object)) return undefined;
  const words = wordsOf(name);
  const found = Object.keys(object).find((other) => {
    const own = wordsOf(other);
    const dropped = words.slice(0, words.length - own.length);
    const isEnd = dropped.length > 0 && own.join() === words.slice(dropped.length).join();
    return isEnd && dropped.every((word) => OF_ANOTHER.test(word)) && isScalar(object[other]);
  });
  if (found === undefined || !/^\w+$/.test(found)) return undefined;
  const there = [...steps, found];
  return { path: there.join('.'), shown: shown(there, object[found] ?? null) };
}

const isScalar = (value: unknown): boolean =>
  (typeof value === 'string' && value !== '') || typeof value === 'number';

const wordsOf = (name: string): readonly string[] =>
  name
    .replaceAll(/([a-z\d])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split('_')
    .filter(Boolean);
