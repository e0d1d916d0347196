/** A body as it may have been before something on the way read it and wrote it again. */
export interface BodyVariant {
  readonly body: Buffer;
  /** How it differs from the one that came, for people. */
  readonly how: string;
}

/** The forms in which common libraries write the same JSON, and the ends that editors and proxies change. */
export function bodyVariants(body: Buffer): readonly BodyVariant[] {
  const text = body.toString('utf8');
  const ends = [
    { body: Buffer.from(text.trimEnd(), 'utf8'), how: 'without the white space at its end' },
    { body: Buffer.from(`${text}\n`, 'utf8'), how: 'with a line end' },
    { body: Buffer.from(`${text}\r\n`, 'utf8'), how: 'with a line end (CR LF)' },
    { body: Buffer.from(text.replaceAll('\r\n', '\n'), 'utf8'), how: 'with LF for CR LF' },
    { body: Buffer.from(text.replace(/^\uFEFF/, ''), 'utf8'), how: 'without its byte order mark' },
  ];
  const variants = [...ends, ...jsonForms(text)];
  return variants.filter((variant) => !variant.body.equals(body));
}

function jsonForms(text: string): readonly BodyVariant[] {
  try {
    return formsOf(JSON.parse(text));
  } catch {
    // It is no JSON, or so deep that writing it again overflows the stack.
    return [];
  }
}

function formsOf(value: unknown): readonly BodyVariant[] {
  const compact = JSON.stringify(value);
  const forms: readonly (readonly [string, string])[] = [
    ['as compact JSON', compact],
    ['as JSON with two spaces', JSON.stringify(value, undefined, 2)],
    ['as JSON with four spaces', JSON.stringify(value, undefined, 4)],
    ['as JSON the way Python writes it', spaced(value)],
    ['as JSON with sorted names', JSON.stringify(sorted(value))],
  ];
  return forms.flatMap(([how, form]) => [
    { body: Buffer.from(form, 'utf8'), how },
    { body: Buffer.from(escaped(form), 'utf8'), how: `${how}, other letters as \\u escapes` },
    { body: Buffer.from(form.replaceAll('/', String.raw`\/`), 'utf8'), how: `${how}, slashes escaped` },
  ]);
}

/** `{"a": 1, "b": [1, 2]}`. */
function spaced(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(spaced).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(([name, item]) => `${JSON.stringify(name)}: ${spaced(item)}`);
  return `{${members.join(', ')}}`;
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([name, item]) => [name, sorted(item)]));
}

function escaped(text: string): string {
  return text.replaceAll(
    /[\u0080-\uffff]/g,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
