/* How a handler of a web framework or of a cloud function reads its request, and what a transform reads in its place. */
import { closingOf } from './printed-parts.ts';

/** A place of a handler, in its printed body. */
export interface WebPlace {
  readonly start: number;
  readonly end: number;
  readonly from: string;
  /** What a transform writes there; empty where it is to go. */
  readonly to: string;
  /** Whether `to` is what was meant for certain. */
  readonly isSure: boolean;
}

type ReadPattern = readonly [pattern: RegExp, to: (name: string) => string];

const keyOf = (root: string, name: string): string =>
  /^[A-Za-z_]\w*$/.test(name) ? `${root}.${name}` : `${root}["${name}"]`;
const headerOf = (name: string): string => keyOf('headers', name.toLowerCase());
const parameterOf = (name: string): string => keyOf('query', name);
const body = (): string => 'payload';

/** The forms in which a request is read, the longest first. */
function readPatterns(request: string): readonly ReadPattern[] {
  const own = request.replaceAll('$', String.raw`\$`);
  const inner = String.raw`${own}\.(?:request\.|req\.)?`;
  const text = String.raw`${inner}(?:body|rawBody)\b`;
  const decoded = String.raw`(?:Buffer\.from\()?${text}(?:, "\w+"\))?(?:\.toString\((?:"utf-?8")?\))?`;
  const name = String.raw`\(["']([\w-]+)["']\)`;
  const forms: readonly (readonly [string, ReadPattern[1]])[] = [
    [String.raw`typeof ${text} === "string" \? JSON\.parse\(${text}\) : ${text}`, body],
    [String.raw`JSON\.parse\(await ${inner}text\(\)\)`, body],
    [String.raw`(?:await )?${inner}(?:json|formData|parseBody)\(\)`, body],
    [String.raw`JSON\.parse\(${decoded}(?: (?:\?\?|\|\|) [^()]{1,9})?\)`, body],
    [text, body],
    [String.raw`${inner}(?:headers\.get|get|header)${name}`, headerOf],
    [String.raw`${inner}headers(?:\.([A-Z]\w*)|\["([\w-]*[A-Z][\w-]*)"\])`, headerOf],
    [String.raw`(?:new URL\(${own}\.url\)|${own}\.nextUrl)\.searchParams\.get${name}`, parameterOf],
    [String.raw`${inner}query${name}`, parameterOf],
    [String.raw`${own}\.queryStringParameters\b`, () => 'query'],
    [String.raw`${inner}(headers|query)\b(?!\()`, (root) => root],
  ];
  return forms.map(([form, to]) => [new RegExp(String.raw`(?<![\w$.])${form}`, 'g'), to]);
}

const nameIn = (groups: readonly unknown[]): string =>
  groups.find((group): group is string => typeof group === 'string') ?? '';

/** Finds each place where a request is read, or asked for its method. */
export function readsIn(code: string, request: string): readonly WebPlace[] {
  const found: WebPlace[] = methodChecks(code, request);
  let rest = blank(code, found);
  for (const [pattern, to] of readPatterns(request)) {
    const places = [...rest.matchAll(pattern)].map(({ index: start, 0: from, ...groups }): WebPlace => {
      const name = nameIn([groups[1], groups[2]]);
      return { start, end: start + from.length, from, to: to(name), isSure: true };
    });
    found.push(...places);
    rest = blank(rest, places);
  }
  return found;
}

function blank(code: string, places: readonly WebPlace[]): string {
  return places.reduce(
    (text, { start, end }) => text.slice(0, start) + ' '.repeat(end - start) + text.slice(end),
    code,
  );
}

/** `if (req.method !== "POST") …`: a path takes only the method of its mapping. */
function methodChecks(code: string, request: string): WebPlace[] {
  const check = new RegExp(String.raw`^[ \t]*if \(${request}\.method !==? "[A-Z]+"\) `, 'gm');
  return [...code.matchAll(check)].map(({ index: start, 0: head }) => {
    const from = start + head.length;
    const last = code[from] === '{' ? closingOf(code, from + 1) : code.indexOf(';', from);
    const end = (last === -1 ? code.length : last) + 1;
    return { start, end, from: code.slice(start, end).trim(), to: '', isSure: true };
  });
}

/** A text with all reads as a transform has them. */
export function replaceReads(text: string, request: string): string {
  return readPatterns(request).reduce(
    (code, [pattern, to]) =>
      code.replaceAll(pattern, (_all: string, ...groups: readonly unknown[]) =>
        to(nameIn(groups.slice(0, 2))),
      ),
    text,
  );
}
