import { Lexer } from 'yaml';
import { MAX_DEPTH } from './tree-builder.ts';

/** Tokens of the lexer that stand for no text: a document begins, brackets are given up, a scalar follows. */
const SIGNS = { document: '\u0002', flowEnd: '\u0018', scalar: '\u001f' } as const;

/**
 * Where brackets, or the signs of one line, are nested deeper than a file may be. The lexer takes time that grows with
 * the text, the parser and the search for a slip far more: 2 KB of brackets without an end took 16 s.
 */
export function findTooDeep(text: string): number | undefined {
  let offset = 0;
  let brackets = 0;
  let signs = 0;
  let before = '';
  for (const token of new Lexer().lex(text)) {
    if (before !== SIGNS.scalar) {
      if (token === '[' || token === '{') brackets += 1;
      else if (token === ']' || token === '}') brackets = Math.max(0, brackets - 1);
      else if (token === SIGNS.flowEnd) brackets = 0;
      else if (token.includes('\n')) signs = 0;
      else if (brackets === 0 && /^[-?:]$/.test(token)) signs += 1;
      if (Math.max(brackets, signs) > MAX_DEPTH) return offset;
    }
    before = token;
    if (token !== SIGNS.document && token !== SIGNS.flowEnd && token !== SIGNS.scalar) offset += token.length;
  }
  return undefined;
}
