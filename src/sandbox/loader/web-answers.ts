/*
 * How a handler of a web framework or of a cloud function answers, as a transform returns the same: a message becomes
 * the run, a refusal or a bare acknowledgement becomes nothing.
 */
import { closingOf, outsideOf, partsOf } from './printed-parts.ts';

/** One place where it answers. */
export interface WebAnswer {
  readonly start: number;
  readonly end: number;
  /** What a transform writes there; empty where the statement is to go. */
  readonly to: string;
  /** Whether `to` is what was meant for certain. */
  readonly isSure: boolean;
}

/** What an answer holds: its value as it is written, and its status. */
interface Held {
  readonly value: string | undefined;
  readonly status: number;
  /** Whether the value is sent as JSON. */
  readonly isJson?: boolean;
}

type Reader = (code: string, match: RegExpExecArray) => (Held & { readonly end: number }) | undefined;

/** Statements about the answer that have no counterpart here. */
const settings = (own: string): string =>
  String.raw`^[ \t]*(?:${own})\.(?:(?:response\.)?(?:status|statusCode|type) = [^;\n]*|(?:setHeader|set|header|type|status|code|writeHead)\([^()\n]*\));\n|^[ \t]*(?:return )?next\(\);\n`;

/** Finds the answers in a body; `own`: names of its parameters that answer, as a choice of a pattern. */
export function findAnswers(body: string, own: string): readonly WebAnswer[] {
  const calls = own === '' ? [] : answersOf(own);
  const patterns: readonly (readonly [RegExp, Reader])[] = [...calls, ...OF_ANY];
  const found = patterns.flatMap(([pattern, read]) =>
    [...body.matchAll(pattern)].flatMap((match): readonly WebAnswer[] => {
      const held = read(body, match);
      if (held === undefined) return [];
      const end = body[held.end] === ';' ? held.end + 1 : held.end;
      return [{ start: match.index, end, ...returned(held, body) }];
    }),
  );
  const gone = own === '' ? [] : [...body.matchAll(new RegExp(settings(own), 'gm'))];
  return [
    ...found,
    ...gone.map(({ 0: text, index }) => ({ start: index, end: index + text.length, to: '', isSure: true })),
  ]
    .toSorted((a, b) => a.start - b.start || b.end - a.end)
    .filter(({ start }, at, all) => !all.slice(0, at).some((before) => start < before.end));
}

/** By the parameters: `res.status(200).json(x)`, `return c.json(x, 201)`, `ctx.body = x`, `callback(null, {…})`. */
function answersOf(own: string): readonly (readonly [RegExp, Reader])[] {
  const pattern = (text: string): RegExp => new RegExp(text.replaceAll('OWN', `(?<![\\w$.])(?:${own})`), 'g');
  return [
    [
      pattern(
        String.raw`(?:return )?(?:await )?OWN((?:\.\w+\([^()\n]*\))*)\.(json|send|end|sendStatus|text|html)\(`,
      ),
      readCall,
    ],
    [pattern(String.raw`OWN\.(?:response\.)?body = `), readAssigned],
    [pattern(String.raw`(?:return )?OWN\((?=null,|undefined,|void 0,)`), readCallback],
    [pattern(String.raw`OWN\.res = (?=\{)`), readObject],
  ];
}

const OF_ANY: readonly (readonly [RegExp, Reader])[] = [
  [/return (?:new (?:Next)?Response|(?:Next)?Response\.json)\(/g, readResponse],
  [/return (?=\{\s*(?:statusCode|status|headers|body|isBase64Encoded)\b)/g, readObject],
];

function readCall(code: string, match: RegExpExecArray): ReturnType<Reader> {
  const start = match.index + match[0].length;
  const close = closingOf(code, start);
  const [value, second = ''] = partsOf(code.slice(start, close));
  const status = match[2] === 'sendStatus' ? value : (/\((\d{3})\)/.exec(match[1] ?? '')?.[1] ?? second);
  const isSent = match[2] !== 'sendStatus';
  return {
    value: isSent ? value : undefined,
    status: statusIn(status ?? ''),
    isJson: match[2] === 'json',
    end: close + 1,
  };
}

function readResponse(code: string, match: RegExpExecArray): ReturnType<Reader> {
  const start = match.index + match[0].length;
  const close = closingOf(code, start);
  const [value, init = ''] = partsOf(code.slice(start, close));
  return { value, status: statusIn(init), isJson: match[0].includes('.json('), end: close + 1 };
}

function readAssigned(code: string, match: RegExpExecArray): ReturnType<Reader> {
  const start = match.index + match[0].length;
  const end = outsideOf(code, start, ';');
  return { value: code.slice(start, end), status: 200, end };
}

function readCallback(code: string, match: RegExpExecArray): ReturnType<Reader> {
  const start = match.index + match[0].length;
  const close = closingOf(code, start);
  const [, value = ''] = partsOf(code.slice(start, close));
  return { ...(heldBy(value) ?? { value, status: 200 }), end: close + 1 };
}

function readObject(code: string, match: RegExpExecArray): ReturnType<Reader> {
  const start = match.index + match[0].length;
  const close = closingOf(code, start + 1);
  const held = heldBy(code.slice(start, close + 1));
  return held && { ...held, end: close + 1 };
}

/** The body and the status of an object such as `{ statusCode: 200, body: … }`. */
function heldBy(text: string): Held | undefined {
  const keys = partsOf(text.slice(1, -1)).map((part) => /^["']?(\w+)["']?(?::\s*([\s\S]*))?$/.exec(part));
  const of = (...names: readonly string[]): string | undefined => {
    const found = keys.find((key) => names.includes(key?.[1] ?? ''));
    return found?.[2] ?? found?.[1];
  };
  const status = of('statusCode', 'status');
  const value = of('body', 'jsonBody');
  return status === undefined && value === undefined ? undefined : { value, status: statusIn(status ?? '') };
}

const statusIn = (text: string): number => Number(/\b[1-5]\d\d\b/.exec(text)?.[0] ?? 200);

/** Acknowledgements, which a sender gets here in any case. */
const BARE = /^["'`](?:ok|okay|done|ignored?|skip(?:ped)?|received|success|accepted|thanks?|)["'`]$/i;
const BARE_OBJECT = /^\{\s*(?:ok|success|received|status|result|error|errors|statusCode)\b/;

function returned(
  { value = '', status, isJson = false }: Held,
  code: string,
): Pick<WebAnswer, 'to' | 'isSure'> {
  const text = unwrapped(value);
  const isMessage = /^\{[\s\S]*?(?<![\w$.])(?:message|text)\s*[:,}]/.test(text);
  if (text === '' || text === 'null' || BARE.test(text) || status >= 300) return NOTHING;
  if (isMessage) return { to: `return ${text};`, isSure: true };
  if (BARE_OBJECT.test(text)) return NOTHING;
  const isNamed =
    /^\w+$/.test(text) && new RegExp(String.raw`\b${text} = \{[^;]*\b(?:message|text)\b`).test(code);
  if (isNamed) return { to: `return ${text};`, isSure: true };
  const isText = !isJson && text === value.trim();
  return isText && TEXTUAL.test(text)
    ? { to: `return { message: ${text} };`, isSure: true }
    : { to: 'return { message: … };', isSure: false };
}

/** A text, texts that are joined, or a field of something. */
const TEXTUAL = /^[`"']|["'`] \+|\+ ["'`]|^[A-Za-z_$][\w$]*(?:\??\.[A-Za-z_$][\w$]*)+$/;

const NOTHING = { to: 'return null;', isSure: true } as const;

/** The value within `JSON.stringify(…)`. */
function unwrapped(value: string): string {
  const start = 'JSON.stringify(';
  if (!value.startsWith(start)) return value.trim();
  const [inner = ''] = partsOf(value.slice(start.length, closingOf(value, start.length)));
  return inner;
}
