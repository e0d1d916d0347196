import { quoted, say } from '../../base/finding.ts';
import { basename, dirname, join } from 'node:path';
import {
  displayName,
  documentKind,
  readDocument,
  type Finding,
  firstLine,
  type LocatedValue,
  nameOfKind,
} from '../../base/document/document.ts';

/** What ends a name behind the name of a case, as people write it. */
const ENDING = /(?:[._-]?requests?)?\.(yaml|yml|json)$/i;
/** Files that are read to see what they hold; a folder may have many that are none of ours. */
const MAX_READ = 50;

export interface Misnamed {
  readonly findings: readonly Finding[];
  /** Expectations that wait for one of them. */
  readonly claimed: readonly string[];
}

/**
 * Files in the folder of cases that have not the name they need, so that no test reads them: requests, and
 * expectations of people who write JSON. `orphans` are expectations without a request file.
 */
export async function findMisnamed(files: readonly string[], orphans: readonly string[]): Promise<Misnamed> {
  const asked = files.filter(
    (file) => ENDING.test(file) && !/\.(?:request\.(?:yaml|yml|json)|expected\.yaml)$/.test(file),
  );
  const found = await Promise.all(
    asked.slice(0, MAX_READ).map(async (file) => {
      if (/\.expected\.(?:json|yml)$/.test(file)) return { finding: otherExpectation(file) };
      const finding = await describeMisnamed(file);
      const expectation = join(dirname(file), basename(file).replace(ENDING, '.expected.yaml'));
      const isClaimed = finding !== undefined && orphans.includes(expectation);
      // What was a case once would pass unseen.
      return isClaimed
        ? { finding: { ...finding, severity: 'error' as const }, claimed: expectation }
        : { finding };
    }),
  );
  return {
    findings: found.flatMap(({ finding }) => finding ?? []),
    claimed: found.flatMap(({ claimed }) => claimed ?? []),
  };
}

function otherExpectation(file: string): Finding {
  const name = basename(file);
  return {
    severity: 'warning',
    code: 'CASE_PASSED_OVER',
    message: say`${name} is not read: what a case expects stands in ${name.replace(/\.\w+$/, '.yaml')}, which sluice test writes`,
    at: { source: { file: displayName(file), text: '' }, start: 0, end: 0 },
    hint: say`remove ${name}`,
  };
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

/** The only key of an object that holds a request. */
function framedRequest(value: object): string | undefined {
  const [[key, inner] = [], ...more] = Array.isArray(value) ? [] : Object.entries(value);
  const isRequest = typeof inner === 'object' && inner !== null && documentKind(inner) === 'request file';
  return more.length === 0 && isRequest ? key : undefined;
}

const REQUEST_FORM = 'a request file has path: NAME (the hook name), headers, and body or bodyFile';

/** A file that evidently holds something else than a request, which has one of `keys`. */
export function findNoRequest(
  root: LocatedValue,
  file: string,
  keys: readonly string[],
): Finding | undefined {
  const { value } = root;
  if (typeof value !== 'object' || value === null) return undefined;
  const kind = documentKind(value);
  if (kind === 'request file') return undefined;
  const framed = framedRequest(value);
  if (framed !== undefined)
    return {
      severity: 'error',
      code: 'NOT_A_REQUEST',
      message: say`the request stands below ${framed}, and a request file has no frame`,
      at: firstLine(root),
      hint: say`remove the line ${framed}:, and indent the lines below it two spaces less`,
    };
  const hasOwnKeys = keys.some((key) => Object.hasOwn(value, key));
  if (kind === undefined && (hasOwnKeys || Array.isArray(value))) return undefined;
  return {
    severity: 'error',
    code: 'NOT_A_REQUEST',
    message: quoted(
      kind === undefined
        ? 'this is no request file: it has none of its keys, so it is most likely the body of a request alone'
        : `this is ${nameOfKind(kind)}, and a request file is expected here`,
    ),
    at: firstLine(root),
    hint: quoted(
      kind === undefined
        ? `make a request file beside it, whose bodyFile is ${basename(file)}, and name that one: ${REQUEST_FORM}`
        : `name a request file: ${REQUEST_FORM}`,
    ),
  };
}
