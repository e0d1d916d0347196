import type { Place } from '../../../base/document/document.ts';
import type { CompiledTemplate } from '../compiled-mapping.ts';

/** A text without expressions, as a template. */
export function literalTemplate(source: string, at: Place): CompiledTemplate {
  return {
    source,
    at,
    blocks: [],
    literal: source,
    reads: [],
    render: () => source,
    pieces: () => [{ text: source }],
    paths: () => [],
  };
}

/** Words that Handlebars reads otherwise wherever they stand in a path. */
const WORDS: ReadonlySet<string> = new Set(['this', 'true', 'false', 'null', 'undefined', 'else', 'as']);

/** Keys as a path of a template: a key that is no plain name stands in brackets. */
export function templatePath(keys: readonly string[]): string {
  return keys.map((key) => (/^[A-Za-z_$][\w$-]*$/.test(key) && !WORDS.has(key) ? key : `[${key}]`)).join('.');
}
