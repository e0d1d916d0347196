import { say } from '../../base/finding.ts';
import type { LocatedValue } from '../../base/document/document.ts';
import type { CompiledMapping } from './compiled-mapping.ts';
import { quote, type Report, type Reporter } from './mapping-codes.ts';
import { isReserved } from './scope.ts';

/** The list that a mapping makes an action of each element of. */
export function compileForEach(
  written: string,
  { located, reporter }: { readonly located: LocatedValue; readonly reporter: Reporter },
): NonNullable<CompiledMapping['forEach']> {
  const text = written.trim();
  const keys = text.replaceAll(/\[(\d+)\]/g, '.$1').split('.');
  const [root = ''] = keys;
  const isNoPath = keys.some((key) => key === '' || /[\s{}[\]"'|]/.test(key));
  if (isNoPath || (isReserved(root) && root !== 'payload')) reporter.report(['forEach'], noPath(text));
  return { keys: root === 'payload' ? keys.slice(1) : keys, text, at: located.place(['forEach']) };
}

function noPath(text: string): Report {
  const plain = plainPath(text);
  return {
    code: 'INVALID_FOR_EACH',
    message: say`forEach is a path in the payload, found ${quote(text)}`,
    ...(plain === undefined
      ? {
          hint: say`write it as messages or payload.data.items, without braces; payload alone is the whole body`,
        }
      : { hint: say`write forEach: ${plain}`, replace: { from: text, to: plain } }),
  };
}

/** A path as JSONPath, jq or a template writes it, in our spelling; undefined where it is none. */
function plainPath(text: string): string | undefined {
  const inner = text.replace(/^\{\{\s*#?(?:each\s+)?|(?<!\s)\s*\}\}$/g, '');
  const path = inner
    .replace(/^\$json\.(?:body\.)?|^\$\.?|^\.|^\{\{|\}\}$/g, '')
    .replaceAll(/\[\*?\]|\.\*/g, '')
    .trim();
  return path !== text && /^[\w-]+(?:\.[\w-]+)*$/.test(path) ? path : undefined;
}
