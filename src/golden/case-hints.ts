/** What a person has to do about a case that did not become what is expected: the likeliest cause, in the first lines. */
import { printInLine } from '../finding.ts';
import { relative } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { formatPlace } from '../document/document.ts';
import { isJsonObject } from '../json.ts';
import { WRITTEN_BY } from './expectation.ts';
import type { CaseResult } from './run-cases.ts';

export interface CaseHints {
  readonly hints: readonly string[];
  /** Whether they say why the request became what it became: then its own reasons lead elsewhere. */
  readonly isCause: boolean;
}

export function hintsOn(result: CaseResult, cwd: string): CaseHints {
  const causes = [
    ...bodyHints(result),
    ...frameHints(result, cwd),
    ...headerHints(result, cwd),
    ...addressHints(result),
  ];
  if (causes.length > 0) return { hints: causes, isCause: causes.length > addressHints(result).length };
  return { hints: result.status === 'failed' ? expectationHints(result, cwd) : [], isCause: false };
}

/** Bodies that are not what they look like: of a case that failed the likeliest cause. */
function bodyHints({ case: { warnings } }: CaseResult): readonly string[] {
  return warnings.map(
    (found) => `${printInLine(found)}${found.at === undefined ? '' : `  ${formatPlace(found.at)}`}`,
  );
}

/** A body below a key that no sender has: `body: {payload: {…}}`, where the mapping reads what is below it. */
function frameHints({ case: golden, advice }: CaseResult, cwd: string): readonly string[] {
  return golden.deliveries.flatMap(({ request: { payload }, rawBody }, index) => {
    const [frame = '', ...more] = isJsonObject(payload) ? Object.keys(payload) : [];
    if (rawBody !== undefined || more.length > 0 || !/^(?:payload|body|json)$/.test(frame)) return [];
    const instead = [...(advice[index]?.instead.values() ?? [])];
    if (!instead.some(({ names }) => names.some((name) => name.includes(`${frame}.`)))) return [];
    return [
      `the body of this case has one key, ${frame}, and the mapping reads what is below it: where the sender sends that alone, remove the line ${frame}: below body, and indent the lines below it two spaces less, in ${relative(cwd, golden.requestFile)}`,
    ];
  });
}

/** A header that a condition reads and the case leaves out. */
function headerHints({ case: golden, evaluations }: CaseResult, cwd: string): readonly string[] {
  return evaluations.flatMap(({ mapping, trace }, index) => {
    const nearest =
      mapping === undefined ? trace.considered.find(({ failed }) => failed?.part === 'when') : undefined;
    const { request } = golden.deliveries[index] ?? {};
    if (nearest?.failed?.part !== 'when' || request === undefined) return [];
    const [, name = '', value = '"…"'] =
      /\{"var":"headers\.([\w-]+)"\}(?:,("[^"]*"))?/.exec(JSON.stringify(nearest.failed.node.rule)) ?? [];
    if (name === '' || request.headers[name] !== undefined) return [];
    const given = Object.keys(request.headers).length > 0;
    const line = given
      ? `${name}: ${value} below headers`
      : `the line headers: { ${name}: ${value} } beside path`;
    const file = relative(cwd, golden.requestFile);
    return [
      `the case has no header ${name}, which mapping ${nearest.mapping.id} asks for: write ${line}, in ${file}`,
    ];
  });
}

/** Request files with the path of the address, where the hook name belongs. */
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

/** A value of an expectation, and where it stands: `actions[0].sessionKey`. */
type Leaves = ReadonlyMap<string, unknown>;

/** Where the expectation differs: of one that a person wrote, what an expectation does not have. */
function expectationHints(
  { case: golden, expected, actual, evaluations }: CaseResult,
  cwd: string,
): readonly string[] {
  if (expected === undefined) return [];
  const [asked, found] = [leavesOf(expected.value), leavesOf(actual)];
  const file = relative(cwd, golden.expectedFile);
  const update = `sluice test --update ${golden.name}`;
  const unknown = [...asked].filter(([path]) => !found.has(path));
  const others = [...found.keys()].filter((path) => !isDeepStrictEqual(asked.get(path), found.get(path)));
  // What a request became at all is the news then, or what found nothing, and its reasons follow.
  const isOther = (key: string): boolean =>
    asked.has(key) && found.has(key) && asked.get(key) !== found.get(key);
  const isOdd = others.some((path) => /^(?:deliveries\[\d+\]\.)?(?:empty|failures|warnings)\b/.test(path));
  if (isOther('outcome') || isOther('mapping') || isOdd) return [];
  if (golden.expected?.text.startsWith(WRITTEN_BY) === true || unknown.length + others.length < 2)
    return [
      `it differs in ${[...unknown.map(([path]) => path), ...others].slice(0, MAX_NAMED).join(', ')}: where the lines with + are what you want, ${update} writes them${elseMapping(evaluations)}`,
    ];
  const words = unknown.slice(0, MAX_NAMED).map(([path, value]) => wordsOf(path, value, found));
  const lacks = others.filter((path) => !asked.has(path)).slice(0, MAX_NAMED);
  const differs = others
    .filter((path) => asked.has(path))
    .map((path) => `it asks for ${path} ${quoted(asked.get(path))}, and that is ${quoted(found.get(path))}`);
  return [
    [
      `${file} was written by hand: let it be written, ${update}, then read it and commit it`,
      ...differs.slice(0, MAX_NAMED).map((text) => `${text}: is that right?`),
      ...(words.length === 0 ? [] : [`an expectation has no ${words.join(', no ')}`]),
      ...(words.length > 0 || lacks.length === 0
        ? []
        : [`an expectation is whole, and this one lacks ${lacks.join(', ')}`]),
    ].join('\n      '),
  ];
}

function elseMapping(evaluations: CaseResult['evaluations']): string {
  const [mapping] = evaluations.flatMap((each) => each.mapping ?? []);
  return mapping === undefined ? '' : `; else correct ${mapping.id} (${formatPlace(mapping.at)})`;
}

const quoted = (value: unknown): string => JSON.stringify(value).slice(0, 80);

const MAX_NAMED = 6;

function wordsOf(path: string, value: unknown, found: Leaves): string {
  const near = [...found].find(
    ([, one]) =>
      isDeepStrictEqual(one, value) ||
      (typeof one === 'string' && typeof value === 'string' && value.length > 3 && one.includes(value)),
  );
  return near === undefined ? path : `${path} (that stands in ${near[0]})`;
}

function leavesOf(value: unknown, path = ''): Leaves {
  if (typeof value !== 'object' || value === null || path.length > 200) return new Map([[path, value]]);
  const isList = Array.isArray(value);
  const inner = Object.entries(value).flatMap(([key, one]) => [
    ...leavesOf(one, isList ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`),
  ]);
  return new Map(inner);
}
