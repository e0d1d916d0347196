/*
 * Templates of an OpenClaw file, rendered by its rules: what stands between braces is trimmed text, `path` and `now`
 * are exactly these, `headers.`, `query.` and `payload.` lead into those parts, and anything else is a path into the
 * payload, spaces and signs included. One pass, no blocks, no helpers. What is missing or null renders empty.
 */
import {
  findingAt,
  type Finding,
  type LocatedValue,
  type Place,
  placeWithin,
} from '../../../base/document/document.ts';
import { say, shorten } from '../../../base/finding.ts';
import { isJsonObject, ownValue, type JsonValue } from '../../../base/json.ts';
import type { CompiledTemplate, RenderTrace, Scope, TemplatePiece } from '../compiled-mapping.ts';
import { type Reader, withoutPayload } from '../scope.ts';
import { textOf, HELPERS } from './template-helpers.ts';
import { checkOutput, literalTemplate } from './template-rendering.ts';
import type { TemplateSubject } from './template-subject.ts';

const EXPRESSION = /\{\{\s*([^}]+)\s*\}\}/g;

interface Expression {
  readonly text: string;
  readonly at: Place;
  readonly read: Reader;
  readonly start: number;
  readonly end: number;
}

/** Compiles a template of an OpenClaw file: there is always one, and everything in it that is no path is reported. */
export function compileOpenClawTemplate(located: LocatedValue): {
  readonly template: CompiledTemplate;
  readonly findings: readonly Finding[];
  readonly subject: TemplateSubject;
} {
  const source = String(located.value);
  const placeOf = (start: number, end: number): Place => placeWithin(located, [], start, end);
  return {
    template: templateOf(located, source),
    findings: notPaths(source, placeOf),
    subject: { kind: 'template', source, findings: [], isUsable: true, reads: [], placeOf },
  };
}

/** Signs that no path of OpenClaw has, or a helper with a value behind it. */
const NOT_PATH = new RegExp(
  String.raw`^[#^!>&*~.=]|^\{|^\$|["'\`|()=<>]|^(?:${Object.keys(HELPERS).join('|')}|if|unless|each|with|range|end) |^end$`,
);
/** Ends and `else` belong to a block that is reported already. */
const REST = /^(?:\/|else\b)/;

function notPaths(source: string, placeOf: (start: number, end: number) => Place): readonly Finding[] {
  return [...source.matchAll(EXPRESSION)].flatMap(
    ({ 0: written, 1: inner = '', index }): readonly Finding[] => {
      const text = inner.trim();
      const at = placeOf(index, index + written.length);
      const name = /^headers\.([\w-]*[A-Z][\w-]*)$/.exec(text)?.[1];
      if (name !== undefined) return [headerCase(name, at)];
      if (!NOT_PATH.test(text) || REST.test(text)) return [];
      return [
        {
          severity: 'warning',
          code: 'TEMPLATE_NOT_SUPPORTED',
          message: say`${JSON.stringify(shorten(written))} is read as the name of a field: a template of an OpenClaw file has paths only, such as {{alerts[0].status}}`,
          at,
          hint: say`write paths alone, or make the text in a transform; blocks and helpers work in hooks.mappings of a sluice.yaml with "extends: openclaw.json"`,
        },
      ];
    },
  );
}

function headerCase(name: string, at: Place): Finding {
  const lower = name.toLowerCase();
  return findingAt(at, {
    severity: 'warning',
    code: 'HEADER_NAME_CASE',
    message: say`header names are in lower case here, as there, found "${name.slice(0, 80)}"`,
    hint: say`write headers.${lower.slice(0, 80)}`,
    replace: { from: name, to: lower },
  });
}

function templateOf(located: LocatedValue, source: string): CompiledTemplate {
  const at = located.place([]);
  const expressions = [...source.matchAll(EXPRESSION)].map((match): Expression => {
    const text = (match[1] ?? '').trim();
    const [start, end] = [match.index, match.index + match[0].length];
    return { text, at: placeWithin(located, [], start, end), read: readerOf(text), start, end };
  });
  if (expressions.length === 0) return literalTemplate(source, at);
  const reads = [...new Set(expressions.map(({ text }) => text.split('.', 1)[0] ?? ''))];
  const pieces = (scope: Scope, trace?: RenderTrace): readonly TemplatePiece[] =>
    piecesOf(source, expressions, { scope, trace });
  const render = (scope: Scope, trace?: RenderTrace): string =>
    checkOutput(
      pieces(scope, trace)
        .map(({ text }) => text)
        .join(''),
    );
  return { source, at, blocks: [], reads, render, pieces };
}

function piecesOf(
  source: string,
  expressions: readonly Expression[],
  { scope, trace }: { readonly scope: Scope; readonly trace: RenderTrace | undefined },
): readonly TemplatePiece[] {
  const pieces: TemplatePiece[] = [];
  let from = 0;
  for (const { text: expression, at, read, start, end } of expressions) {
    if (start > from) pieces.push({ text: source.slice(from, start) });
    const value = read(scope);
    if (value === undefined || value === null) trace?.empty.push({ expression, at });
    pieces.push({ text: textOf(value), expression, at, path: ownSpelling(expression) });
    from = end;
  }
  return from < source.length ? [...pieces, { text: source.slice(from) }] : pieces;
}

/** The path of an expression as our templates write it. */
function ownSpelling(expression: string): string {
  const isWhole = /^(?:path|now|headers\..*|query\..*|payload\..*)$/s.test(expression);
  return (isWhole ? expression : `payload.${expression}`).replaceAll(/\[(\d+)\]/g, '.$1');
}

function readerOf(text: string): Reader {
  if (text === 'path') return ({ request }) => request.path;
  if (text === 'now') return ({ request }) => new Date(request.receivedAt).toISOString();
  if (text.startsWith('headers.')) return pathReader(text.slice(8), ({ request }) => request.headers);
  if (text.startsWith('query.')) return pathReader(text.slice(6), lastQueryValues);
  return pathReader(withoutPayload(text), ({ request }) => request.payload);
}

/** In OpenClaw the last value of a repeated parameter counts. */
function lastQueryValues({ request }: Scope): JsonValue {
  const at = request.url.indexOf('?');
  if (at < 0) return request.query;
  return Object.fromEntries(new URLSearchParams(request.url.slice(at + 1)));
}

/** A part between dots is a key as written; `[0]` is a position and reads lists only. */
function pathReader(path: string, root: (scope: Scope) => JsonValue): Reader {
  const steps = [...path.matchAll(/([^.[\]]+)|\[(\d+)\]/g)].map(([, key, position]) => ({ key, position }));
  if (steps.length === 0) return () => undefined;
  return (scope) => {
    let value: JsonValue | undefined = root(scope);
    for (const { key, position } of steps) {
      if (position !== undefined) value = Array.isArray(value) ? ownValue(value, position) : undefined;
      else value = isJsonObject(value) || Array.isArray(value) ? ownValue(value, key ?? '') : undefined;
    }
    return value;
  };
}
