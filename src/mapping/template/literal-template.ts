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
