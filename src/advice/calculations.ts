/* The file of a transform that makes the text of a template, which cannot calculate. */
import { codeOfSteps, transformFile } from './transform-files.ts';
import { isReserved } from '../mapping/mapping.ts';

/** Letters of a template whose file is printed. */
const MAX_CHARS = 1_000;

/**
 * The file, and the line of the mapping; undefined where a part of the template has no such code. `code`: what stands
 * between braces, in JavaScript.
 */
export function textFile(
  source: string,
  { id, field }: { readonly id: string; readonly field: 'message' | 'text' },
  code: (inside: string) => string | undefined,
): string | undefined {
  if (source.length > MAX_CHARS) return undefined;
  const parts = source
    .trimEnd()
    .split(/\{\{\s*([^{}]+?)\s*\}\}/)
    .map((piece, at) => (at % 2 === 1 ? code(piece) : literal(piece)));
  if (parts.includes(undefined)) return undefined;
  const text = parts.map((part, at) => (at % 2 === 1 ? `\${${part ?? ''}}` : part)).join('');
  const file = transformFile({ id }, { lines: [], checks: [], returned: `{ ${field}: \`${text}\` }` });
  return `${file}\nand in the mapping the line transform: ${id}.js in place of ${field}Template`;
}

const literal = (text: string): string =>
  text.replaceAll(/[`\\]|\$\{/g, String.raw`\$&`).replaceAll('\n', String.raw`\n`);

/** A path between braces as JavaScript reads it; undefined for anything else. */
export function codeOfInside(inside: string): string | undefined {
  if (!/^[A-Za-z_][\w.[\]-]*$/.test(inside)) return undefined;
  const keys = inside.replaceAll(/\.?\[["']?([^\]"']*)["']?\]/g, '.$1').split('.');
  const [root = '', ...rest] = isReserved(keys[0] ?? '') ? keys : ['payload', ...keys];
  return root + codeOfSteps(rest);
}
