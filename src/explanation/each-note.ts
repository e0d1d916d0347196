/* What a `forEach` made of one request, and how one run reads the whole list. */
import type { Evaluation } from '../hook/hook.ts';
import type { CompiledMapping, CompiledTemplate } from '../mapping/mapping.ts';

/** A template of more characters is not printed. */
const MAX_CHARS = 400;
const MUSTACHE = /\{\{[^{}]{0,300}\}\}/g;

/** Continues the setting `forEach`; undefined where it made one action, or none. */
export function eachNote(
  mapping: CompiledMapping,
  outcome: Evaluation['outcome'] | undefined,
): string | undefined {
  const made = outcome?.kind === 'accepted' ? outcome.actions.length : 0;
  const { forEach, action, text } = mapping;
  if (forEach === undefined || made < 2) return undefined;
  const [one, field] = action === 'wake' ? ['event', 'textTemplate'] : ['run', 'messageTemplate'];
  const what = `it made ${made} ${one}s of this one request, one for each element of ${forEach.text}`;
  const whole = text && wholeList(text, forEach.text);
  const fix =
    whole === undefined
      ? `print the list with {{#each ${forEach.text}}} … {{/each}}`
      : `write ${field}: ${whole}`;
  const keyed = [
    ...(mapping.sessionKey?.reads.includes('item') === true ? ['sessionKey'] : []),
    ...(typeof mapping.dedupe?.key === 'object' && mapping.dedupe.key.reads.includes('item')
      ? ['dedupe.key']
      : []),
  ];
  const keys = keyed.length === 0 ? '' : `, and take item out of ${keyed.join(' and ')}`;
  return `${what}. If one ${one} should have all of them, remove forEach and ${fix}${keys}`;
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
