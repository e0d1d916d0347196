import { quoted, say } from '../../base/finding.ts';
import { basename } from 'node:path';
import {
  displayName,
  documentKind,
  readDocument,
  type Finding,
  firstLine,
  type LocatedValue,
  nameOfKind,
} from '../../base/document/document.ts';

const ENDING = /(?:[._-]?requests?)?\.(yaml|yml|json)$/i;
const OWN = /\.(?:request\.(?:yaml|yml|json)|expected\.yaml)$/;
/** A folder may have many files of other kinds, so only some are read. */
const MAX_READ = 50;

/** Finds requests in the folder of cases whose names keep any test from reading them. */
export async function findMisnamed(files: readonly string[]): Promise<readonly Finding[]> {
  const asked = files.filter((file) => ENDING.test(file) && !OWN.test(file));
  const found = await Promise.all(asked.slice(0, MAX_READ).map(describeMisnamed));
  return found.filter((finding) => finding !== undefined);
}

async function describeMisnamed(file: string): Promise<Finding | undefined> {
  const { document } = await readDocument(file);
  if (document === undefined || Array.isArray(document.root.value)) return undefined;
  if (documentKind(document.root.value) !== 'request file') return undefined;
  const name = basename(file).replace(ENDING, '.request.$1');
  return {
    severity: 'warning',
    code: 'CASE_PASSED_OVER',
    message: say`${basename(file)} holds a request, and is not read as a case: the name of a request file ends in .request.yaml or .request.json`,
    at: { source: { file: displayName(file), text: '' }, start: 0, end: 0 },
    hint: say`rename it: ${name}`,
  };
}

const REQUEST_FORM = 'a request file has path: NAME (the hook name), headers, and body or bodyFile';

/** Recognises a file that evidently holds something else than a request, because it has one of `keys`. */
export function findNoRequest(
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
