import { defined } from '../json.ts';
import { SECRET_KEY } from './secret-names.ts';

/** What stands in a log in place of a secret. */
const REDACTED = '[redacted]';

/** Query parameters that carry a token, up to the end of their value. */
const TOKEN_PARAMETER = /([?&][^=?&#\s"]*token=)[^&#\s"]*/gi;

const MAX_DEPTH = 6;
const MAX_ENTRIES = 100;
const MAX_TEXT = 2000;

/**
 * Log fields as members of a JSON object, each behind a comma, bounded and without secrets: a text (or anything that
 * holds texts) under a secret's name is replaced at any depth, as are tokens in queries. Cycles end at the sixth
 * level, lists and objects at 100 entries, texts at 2000 characters. Errors become plain objects.
 */
export function membersOf(fields: Readonly<Record<string, unknown>>, secrets: SecretValues): string {
  let members = '';
  for (const key of Object.keys(fields).slice(0, MAX_ENTRIES)) {
    const json = JSON.stringify(copyField(fields, key, { depth: 1, secrets })) as string | undefined;
    if (json !== undefined) members += `,${JSON.stringify(key)}:${json}`;
  }
  return members;
}

interface CopyPlace {
  readonly depth: number;
  readonly secrets: SecretValues;
}

function copyField(fields: Readonly<Record<string, unknown>>, key: string, place: CopyPlace): unknown {
  return copy(SECRET_KEY.test(key) ? hidden(fields[key]) : fields[key], place);
}

/** What stands under a secret's name: numbers and flags are no secrets. */
function hidden(value: unknown): unknown {
  const holdsText = typeof value === 'string' || (typeof value === 'object' && value !== null);
  return holdsText ? REDACTED : value;
}

function copy(value: unknown, { depth, secrets }: CopyPlace): unknown {
  if (typeof value === 'string') return redactText(value, secrets);
  if (typeof value === 'bigint') return value.toString();
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= MAX_DEPTH) return '[too deep]';
  if (value instanceof Error) return copy(errorFields(value), { depth, secrets });
  if (value instanceof Date) return value.toISOString();
  if (ArrayBuffer.isView(value)) return `[${String(value.byteLength)} bytes]`;
  const within = { depth: depth + 1, secrets };
  if (Array.isArray(value)) return value.slice(0, MAX_ENTRIES).map((item) => copy(item, within));
  // Without a prototype a field named __proto__ stays a field.
  const copied = Object.create(null) as Record<string, unknown>;
  const fields = value as Readonly<Record<string, unknown>>;
  for (const key of Object.keys(fields).slice(0, MAX_ENTRIES)) copied[key] = copyField(fields, key, within);
  return copied;
}

/** Secrets go before the rest of a long text does, which would leave the beginning of one. */
function redactText(text: string, secrets: SecretValues): string {
  const cut = text.length > MAX_TEXT ? `${secrets.replaceIn(text).slice(0, MAX_TEXT)}…` : text;
  return cut.includes('oken=') || cut.includes('OKEN=')
    ? cut.replaceAll(TOKEN_PARAMETER, `$1${REDACTED}`)
    : cut;
}

function errorFields(error: Error): object {
  const { code } = error as NodeJS.ErrnoException;
  return defined({ type: error.name, message: error.message, code, stack: error.stack, cause: error.cause });
}

/** Shorter texts are words rather than secrets, and replacing them would garble every line. */
const MIN_SECRET = 4;

/** The text, as JSON has it, as JSON within JSON has it, and as an address has it. */
function formsOf(secret: string): readonly string[] {
  const quoted = JSON.stringify(secret).slice(1, -1);
  return [secret, quoted, JSON.stringify(quoted).slice(1, -1), encodeURIComponent(secret.toWellFormed())];
}

/** Sorts so that a secret within another one leaves no rest of it. */
const longestFirst = (forms: readonly string[]): readonly string[] =>
  forms.toSorted((a, b) => b.length - a.length);

/** Secrets known by value, replaced in finished lines in the forms in which a line can carry them. */
export class SecretValues {
  readonly #forms = new Set<string>();
  /** The forms in this order; undefined until they are needed. */
  #longestFirst: readonly string[] | undefined;

  add(secret: string): void {
    if (secret.length < MIN_SECRET) return;
    for (const form of formsOf(secret)) this.#forms.add(form);
    this.#longestFirst = undefined;
  }

  replaceIn(line: string): string {
    this.#longestFirst ??= longestFirst([...this.#forms]);
    let replaced = line;
    for (const form of this.#longestFirst)
      if (replaced.includes(form)) replaced = replaced.replaceAll(form, REDACTED);
    return replaced;
  }
}

/** What stands in place of a secret in all that is kept, recorded and shown, other than the log. */
export const REMOVED = '[removed]';

/** Shorter values of the configuration are words, which a page full of `[removed]` would not explain. */
const MIN_SHOWN_SECRET = 6;

/**
 * A page for the operator without values of the configuration that are secrets, wherever a command or a platform
 * repeated them: a text, or JSON.
 */
export function withoutSecrets(text: string, secrets: readonly string[], form: 'text' | 'json'): string {
  const forms = secrets
    .filter(({ length }) => length >= MIN_SHOWN_SECRET)
    .flatMap((secret) => formsOf(secret).slice(form === 'text' ? 0 : 1));
  return longestFirst(forms).reduce((safe, each) => safe.replaceAll(each, REMOVED), text);
}
