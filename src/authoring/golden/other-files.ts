import { quoted } from '../../base/finding.ts';
import { basename } from 'node:path';
import {
  documentKind,
  type Finding,
  firstLine,
  type LocatedValue,
  nameOfKind,
} from '../../base/document/document.ts';

const REQUEST_FORM = 'a request file has path: NAME (the hook name), headers, and body or bodyFile';

/** Recognises a file that evidently holds something else than a request, because it has one of `keys`. */
export function findOtherKind(
  root: LocatedValue,
  file: string,
  keys: readonly string[],
): Finding | undefined {
  const { value } = root;
  if (typeof value !== 'object' || value === null) return undefined;
  const kind = documentKind(value);
  if (kind === 'request file') return undefined;
  const hasOwnKeys = keys.some((key) => Object.hasOwn(value, key));
  if (kind === undefined && (hasOwnKeys || Array.isArray(value))) return undefined;
  const [message, remedy] =
    kind === undefined
      ? [
          'this is no request file: it has none of its keys',
          `make a request file beside it, whose bodyFile is ${basename(file)}, where it is the body of one`,
        ]
      : [`this is ${nameOfKind(kind)}, and a request file is expected here`, 'name a request file'];
  return {
    severity: 'error',
    code: 'NOT_A_REQUEST',
    message: quoted(message),
    at: firstLine(root),
    hint: quoted(`${remedy}: ${REQUEST_FORM}`),
  };
}
