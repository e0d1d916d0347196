/*
 * Texts are written in what SQLite and PostgreSQL both know. What they say differently is put in where it is used, as
 * one of the primitives below.
 */

/** A text that is not the same for both. */
export interface Dialects {
  readonly sqlite: string;
  readonly postgres: string;
}

export type Sql = string | Dialects;

/** Tag of a text with parts that differ. */
export function both(texts: TemplateStringsArray, ...parts: readonly (Sql | number)[]): Dialects {
  const of = (dialect: keyof Dialects): string =>
    String.raw({ raw: texts }, ...parts.map((part) => (typeof part === 'object' ? part[dialect] : part)));
  return { sqlite: of('sqlite'), postgres: of('postgres') };
}

/** Names the index of a table; PostgreSQL takes no such hint, and finds it by its columns and its order. */
export const by = (index: string): Dialects => ({ sqlite: `INDEXED BY ${index}`, postgres: '' });

/** The values of a parameter that is a list as JSON. */
export const listed = (parameter: string, type: 'text' | 'bigint' = 'text'): Dialects => ({
  sqlite: `(SELECT value FROM json_each(${parameter}))`,
  postgres: `(SELECT json_array_elements_text(${parameter}::json)::${type})`,
});

/** The number of the row that was inserted last. */
export const LAST_SEQ: Dialects = { sqlite: 'last_insert_rowid()', postgres: 'lastval()' };
