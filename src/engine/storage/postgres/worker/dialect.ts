import type { Sql, SqlValue } from '../../statements/statements.ts';

export function textOf(sql: Sql): string {
  return typeof sql === 'string' ? sql : sql.postgres;
}

/** The texts of one connection, each with the name that it is prepared under. */
export class PreparedTexts {
  readonly #known = new Map<string, { readonly name: string; readonly text: string }>();

  get(sql: Sql): { readonly name: string; readonly text: string } {
    const text = textOf(sql);
    const known = this.#known.get(text);
    if (known !== undefined) return known;
    const prepared = { name: `s${this.#known.size}`, text: numbered(text) };
    this.#known.set(text, prepared);
    return prepared;
  }
}

/** Parameters have numbers; no text of the operations has a question mark that is none. */
function numbered(text: string): string {
  let position = 0;
  return text.replaceAll(/\?(\d*)/g, (_, number: string) => `$${number === '' ? (position += 1) : number}`);
}

/** PostgreSQL holds no NUL in a text: it and the escape itself are written as two characters. */
const ESCAPE = '\u{10FFFF}';

export function escapeText(text: string): string {
  if (!text.includes('\0') && !text.includes(ESCAPE)) return text;
  return text.replaceAll(ESCAPE, `${ESCAPE}1`).replaceAll('\0', `${ESCAPE}0`);
}

function unescapeText(text: string): string {
  if (!text.includes(ESCAPE)) return text;
  return text.replaceAll(`${ESCAPE}0`, '\0').replaceAll(`${ESCAPE}1`, ESCAPE);
}

export function toParameter(value: SqlValue): SqlValue {
  if (typeof value === 'string') return escapeText(value);
  // Every number of the schema is whole; a time that comes in may have a fraction.
  return typeof value === 'number' ? Math.floor(value) : value;
}

/** The rows of an answer, their texts as they were. */
export function rowsOf(rows: readonly object[] = []): object[] {
  return rows.map(unescapeRow);
}

function unescapeRow(row: object): object {
  for (const [key, value] of Object.entries(row)) {
    if (typeof value === 'string') (row as Record<string, unknown>)[key] = unescapeText(value);
  }
  return row;
}
