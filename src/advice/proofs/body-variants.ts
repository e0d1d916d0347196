import { defined } from '../../json.ts';
import type { FactsOf } from '../../verify/facts.ts';

type Form = FactsOf<'re-encoded-body'>;

/** A body as the sender may have signed it. */
export interface BodyVariant {
  readonly facts: Form;
  readonly body: Buffer;
}

/** The forms in which common libraries write the same JSON, and the ends that editors and proxies change. */
export function bodyVariants(body: Buffer): readonly BodyVariant[] {
  const text = body.toString('utf8');
  const forms: readonly (readonly [Form['form'], string, Form['escapes']?])[] = [
    ['trimmed', text.trimEnd()],
    ['line end', `${text}\n`],
    ...jsonForms(text).flatMap(([form, written]) => [
      [form, written] as const,
      [form, escaped(written), 'letters'] as const,
      [form, written.replaceAll('/', String.raw`\/`), 'slashes'] as const,
    ]),
  ];
  return forms
    .map(([form, written, escapes]) => ({
      facts: defined({ form, escapes }),
      body: Buffer.from(written, 'utf8'),
    }))
    .filter((variant) => !variant.body.equals(body));
}

function jsonForms(text: string): readonly (readonly [Form['form'], string])[] {
  try {
    const value: unknown = JSON.parse(text);
    return [
      ['compact', JSON.stringify(value)],
      ['two spaces', JSON.stringify(value, undefined, 2)],
      ['Python', spaced(value)],
    ];
  } catch {
    // It is no JSON, or so deep that writing it again overflows the stack.
    return [];
  }
}

/** `{"a": 1, "b": [1, 2]}`. */
function spaced(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(spaced).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(([name, item]) => `${JSON.stringify(name)}: ${spaced(item)}`);
  return `{${members.join(', ')}}`;
}

function escaped(text: string): string {
  return text.replaceAll(
    /[\u0080-\uffff]/g,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
