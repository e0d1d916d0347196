/* What a `forEach` made of one request, and how one run reads the whole list. */
import { formatPlace } from '../document/document.ts';
import type { Evaluation } from '../hook/hook.ts';
import { isJsonObject, isScalar, type JsonValue } from '../json.ts';
import { isReserved, type CompiledMapping, type CompiledTemplate } from '../mapping/mapping.ts';

/** A template of more characters is not printed. */
const MAX_CHARS = 400;
const MUSTACHE = /\{\{[^{}]{0,300}\}\}/g;

/** Continues the setting `forEach`; undefined where it made one action, or none, or those that become one run. */
export function eachNote(
  mapping: CompiledMapping,
  outcome: Evaluation['outcome'] | undefined,
  payload?: JsonValue,
): string | undefined {
  const actions = outcome?.kind === 'accepted' ? outcome.actions : [];
  const { forEach, action, text, debounce } = mapping;
  const made = new Set(actions.map((each, index) => gatheredKey(each) ?? index)).size;
  if (forEach === undefined || made < 2) return undefined;
  const [one, field] = action === 'wake' ? ['event', 'textTemplate'] : ['run', 'messageTemplate'];
  const repeats = repeatsIn(outcome);
  if (repeats > 0)
    return `of ${made} elements of ${forEach.text} it made ${counted(made - repeats, one)}: ${repeats === 1 ? 'one has' : `${repeats} have`} the dedupe.key of another element, and count as repeats`;
  const what = `it made ${made} ${one}s of this one request, one for each element of ${forEach.text}`;
  const whole = text && wholeList(text, forEach.text);
  const fix =
    whole === undefined
      ? `print the list with {{#each ${forEach.text}}} … {{/each}}`
      : `write ${field}: ${whole}`;
  const keys = otherKeys(mapping);
  const also = keys.length === 0 ? '' : `, and take item out of ${keys.join(' and ')}`;
  if (debounce?.key.reads.includes('item') !== true)
    return `${what}. If one ${one} should have all of them, remove forEach and ${fix}${also}`;
  const place = formatPlace(debounce.key.at);
  return `${what}: debounce.key (${place}) reads item, so each element has a key of its own. If one run should have all of them, write key: '${sharedKey(mapping, payload)}' in debounce: they become one run, which reads them all; without debounce remove forEach, too, and ${fix}${also}`;
}

type Action = Extract<Evaluation['outcome'], { readonly kind: 'accepted' }>['actions'][number];

function gatheredKey(action: Action): string | undefined {
  return action.kind === 'agent' ? action.debounce?.key : undefined;
}

/** Other keys of the mapping that read the element. */
const otherKeys = ({ sessionKey, dedupe }: CompiledMapping): readonly string[] => [
  ...(sessionKey?.reads.includes('item') === true ? ['sessionKey'] : []),
  ...(typeof dedupe?.key === 'object' && dedupe.key.reads.includes('item') ? ['dedupe.key'] : []),
];

/** Fields at the root of a body that name what its elements have in common. */
const SHARED = [/^group_?(?:key|id)$/i, /key$/i, /(?:^|_)(?:id|uuid)$|Id$/, /name$|title$/i];

/** A key that all elements of one request have, and those of another one mostly not. */
function sharedKey({ id }: CompiledMapping, payload: JsonValue | undefined): string {
  const names = isJsonObject(payload)
    ? Object.entries(payload).flatMap(([name, value]) =>
        /^[A-Za-z_]\w*$/.test(name) && !isReserved(name) && isScalar(value) && value !== '' ? [name] : [],
      )
    : [];
  const name = SHARED.map((form) => names.find((each) => form.test(each))).find((each) => each !== undefined);
  return name === undefined ? id : `{{${name}}}`;
}

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

/** Actions of one request with the key of one before them. */
function repeatsIn(outcome: Evaluation['outcome'] | undefined): number {
  const actions = outcome?.kind === 'accepted' ? outcome.actions : [];
  const keys = actions.flatMap((action) => ('dedupe' in action && action.dedupe ? [action.dedupe.key] : []));
  return keys.length - new Set(keys).size;
}

/** The template once for each element, as one line of YAML; undefined where it reads the root of the request, too. */
function wholeList({ source, reads }: CompiledTemplate, list: string): string | undefined {
  const isShort = source.length <= MAX_CHARS && !/[#{]each\b/.test(source);
  if (!isShort || reads.some((name) => name !== 'item')) return undefined;
  const inside = source.replaceAll(MUSTACHE, (each) =>
    each.replaceAll(/(?<![\w.])item\./g, '').replaceAll(/(?<![\w.])item(?![\w.])/g, 'this'),
  );
  return JSON.stringify(`{{#each ${list}}}\n${inside.trimEnd()}\n{{/each}}`);
}
