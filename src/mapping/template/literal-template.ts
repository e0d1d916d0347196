import type { Place } from '../../document/document.ts';
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

/** Keys as a path of a template: a key that is no plain name stands in brackets. */
export function templatePath(keys: readonly string[]): string {
  return keys.map((key) => (/^[A-Za-z_$][\w$-]*$/.test(key) ? key : `[${key}]`)).join('.');
}
