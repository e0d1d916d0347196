/** Says what a person has to do about a case that failed: the likeliest cause, in the first lines. */
import { isDeepStrictEqual } from 'node:util';
import { formatPlace } from '../../base/document/document.ts';
import type { CaseResult } from './run-cases.ts';

export function hintsOn(result: CaseResult): readonly string[] {
  const causes = addressHints(result);
  return causes.length > 0 || result.status !== 'failed' ? causes : differenceHints(result);
}

function addressHints({ case: { deliveries }, evaluations }: CaseResult): readonly string[] {
  return evaluations.flatMap(({ outcome, mapping, trace }, index) => {
    const { request, pathAt } = deliveries[index] ?? {};
    if (outcome.kind !== 'rejected' || mapping !== undefined || pathAt === undefined) return [];
    const names = trace.considered.map((one) => one.mapping.match.path ?? '');
    const name = names.find((one) => one !== '' && request?.path.endsWith(`/${one}`) === true);
    const found = JSON.stringify(request?.path);
    return name === undefined
      ? []
      : [
          `no mapping takes the path ${found}; did you mean path: ${name}? It is the hook name alone, what follows hooks.path in the address  ${formatPlace(pathAt)}`,
        ];
  });
}

/**
 * Says where the case differs and how to write what came of it. It says nothing where the outcome itself is the news.
 */
function differenceHints({ case: { name }, expected, actual, evaluations }: CaseResult): readonly string[] {
  if (expected === undefined) return [];
  const [asked, found] = [leavesOf(expected.value), leavesOf(actual)];
  const differing = [...new Set([...asked.keys(), ...found.keys()])].filter(
    (path) => !isDeepStrictEqual(asked.get(path), found.get(path)),
  );
  if (differing.some((path) => IS_NEWS.test(path))) return [];
  if (differing.every((path) => withoutReturns(asked.get(path)) === withoutReturns(found.get(path))))
    return [
      `only line ends differ, in ${differing.slice(0, MAX_NAMED).join(', ')}: most likely git wrote the files of ${name} with CRLF here (core.autocrlf); write "*.txt -text" (or the ending of the bodyFile) into .gitattributes, delete the files and check them out again`,
    ];
  const [mapping] = evaluations.flatMap((each) => each.mapping ?? []);
  const otherwise = mapping === undefined ? '' : `; else correct ${mapping.id} (${formatPlace(mapping.at)})`;
  return [
    `it differs in ${differing.slice(0, MAX_NAMED).join(', ')}: where the lines with + are what you want, sluice test --update ${name} writes them${otherwise}`,
  ];
}

const withoutReturns = (value: unknown): unknown =>
  typeof value === 'string' ? value.replaceAll('\r', '') : value;

const IS_NEWS = /^(?:deliveries\[\d+\]\.)?(?:outcome$|mapping$|(?:empty|failures|warnings)\b)/;
const MAX_NAMED = 6;

/** Lists the values of an expectation by their places: `actions[0].sessionKey`. */
function leavesOf(value: unknown, path = ''): ReadonlyMap<string, unknown> {
  if (typeof value !== 'object' || value === null || path.length > 200) return new Map([[path, value]]);
  const isList = Array.isArray(value);
  const inner = Object.entries(value).flatMap(([key, one]) => [
    ...leavesOf(one, isList ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`),
  ]);
  return new Map(inner);
}
