/*
 * What to write in a transform that was a handler of a web framework or of a cloud function: the whole file where each
 * part of it is known, else each place where it reads the request or answers it. All of them, as one alone gives the
 * next error.
 */
import type { GraphFile } from './load-graph.ts';
import { bodyOf, closingOf, partsOf, statementsOf } from './printed-parts.ts';
import { findAnswers } from './web-answers.ts';
import { readsIn, replaceReads, type WebPlace } from './web-reads.ts';

/** One kind of place, in the printed code. */
export interface WebEdit {
  readonly from: string;
  /** Empty where it is to go. */
  readonly to: string;
  readonly offsets: readonly number[];
}

export interface WebHandler {
  /** Where its parameters begin, in the printed code. */
  readonly start: number;
  /** Its parameters as they are written, and as they have to be. */
  readonly parameters: { readonly from: string; readonly to: string };
  readonly edits: readonly WebEdit[];
  /** The whole file; absent where something in it is not known. */
  readonly file: string | undefined;
  /** Whether the function is exported as a transform is. */
  readonly isExported: boolean;
}

/** Names of the first parameter in examples of Express, Next, Koa, Hono, Lambda and Workers. */
const REQUESTS = /^_?(?:req|request|ctx|context|c|event|evt)$/;
/** Those that may well be the event of the sender. */
const EVENTS = /^(?:event|evt|c|context)$/;
/** First parameters by which a handler answers, too. */
const CONTEXTS = /^(?:ctx|c|context)$/;
const RESPONSES = /^_?(?:res|response|reply|context|ctx|callback|cb|env)$/;

/** Functions that other tools call by their name, routes of a server, and the worker whose function is a method. */
const NAMED =
  /^(?:[\w$]+\.(?:post|put|all|get|use)\((?:"[^"]*", )?(?:[\w$.]+\([^()\n]*\), )?(?:async )?(?:function(?: \w+)?)?\(|export (?:const|let) \w+ = (?:async )?(?:function(?: \w+)?)?\(|export (?:async )?function \w+\(|(?:module\.)?exports\.\w+ = (?:async )?(?:function(?: \w+)?)?\(|export default \{\s+(?:async fetch|fetch|fetch: async |fetch: )\()/gm;

type Kind = Exclude<GraphFile['kind'], 'json'>;

/** A function of the printed code, where its parameters begin. */
interface Candidate {
  readonly start: number;
  readonly isExported: boolean;
  readonly kind: Kind;
}

/** The handler in a printed file; undefined where its first parameter is no request for certain. */
export function findWebHandler(code: string, start: number | undefined, kind: Kind): WebHandler | undefined {
  const named = (): readonly Candidate[] =>
    [...code.matchAll(NAMED)].map(({ 0: head, index }) => ({
      start: index + head.length,
      isExported: false,
      kind,
    }));
  const candidates = start === undefined ? named() : [{ start, isExported: true, kind }];
  for (const candidate of candidates) {
    const handler = handlerAt(code, candidate);
    if (handler !== undefined) return handler;
  }
  return undefined;
}

function handlerAt(code: string, { start, isExported, kind }: Candidate): WebHandler | undefined {
  const end = closingOf(code, start);
  const parameters = partsOf(code.slice(start, end));
  const all = parameters.flatMap((each) => each.match(/[A-Za-z_$][\w$]*/g) ?? []);
  const names = parameters.map((each) => /^[\w$]+/.exec(each)?.[0] ?? '');
  // Functions of Azure get the context first.
  const request = names.find((name) => /^req(?:uest)?$/.test(name)) ?? names[0] ?? '';
  const answering = names.filter((name) => name !== request && RESPONSES.test(name));
  const body = bodyOf(code, end);
  if (!REQUESTS.test(request) || !isHandler(body, request, answering)) return undefined;
  const places = placesIn(body, request, answering);
  const changed = withPlaces(body, places);
  const taken = ['payload', 'headers', 'query'].filter((name) =>
    new RegExp(String.raw`(?<![\w$.])${name}\b`).test(changed),
  );
  const to = `({ ${taken.join(', ')} }${kind === 'typescript' ? ': any' : ''})`;
  const isKnown =
    places.every(({ isSure }) => isSure) &&
    !all.some((name) => !taken.includes(name) && readsName(changed, name));
  return {
    start,
    parameters: { from: `(${parameters.join(', ')})`, to },
    edits: editsOf(places, end),
    isExported,
    // What it calls of a network is told beside it.
    file:
      isKnown && !readsName(changed, 'fetch')
        ? fileWith(code, { start, kind, text: functionWith(changed, to, METHOD.test(code.slice(0, start))) })
        : undefined,
  };
}

/** A parameter called event is a request where its body is parsed, or where there is one to answer by. */
function isHandler(body: string, request: string, answering: readonly string[]): boolean {
  const hasAnswer = answering.length > 0;
  const isEvent = EVENTS.test(request);
  return readsIn(body, request).some(({ from, to }) =>
    to === 'payload'
      ? !isEvent || from !== `${request}.body` || hasAnswer
      : !isEvent && findAnswers(body, answering.join('|')).length > 0,
  );
}

const readsName = (code: string, name: string): boolean =>
  name !== '' &&
  new RegExp(String.raw`(?<![\w$.])${name.replaceAll('$', String.raw`\$`)}(?![\w$])`).test(code);

/** Reads and answers in their order; what is read within an answer stands there as it is to be. */
function placesIn(body: string, request: string, answering: readonly string[]): readonly WebPlace[] {
  const own = [...answering, ...(CONTEXTS.test(request) ? [request] : [])].join('|');
  const reads = readsIn(body, request);
  const gone = reads.filter(({ to }) => to === '');
  const answers = findAnswers(body, own)
    .filter(({ start }) => !gone.some((check) => start >= check.start && start < check.end))
    .map((answer): WebPlace => ({
      ...answer,
      from: body.slice(answer.start, answer.end).trim(),
      to: replaceReads(answer.to, request),
    }));
  const outside = reads.filter(
    ({ start }) => !answers.some((answer) => start >= answer.start && start < answer.end),
  );
  return [...outside, ...answers].toSorted((a, b) => a.start - b.start);
}

function withPlaces(body: string, places: readonly WebPlace[]): string {
  const ends = [0, ...places.map(({ end }) => end)];
  const parts = places.map(({ start, to }, at) => body.slice(ends[at], start) + to);
  // Where a statement is gone, its line is, too.
  return (parts.join('') + body.slice(ends.at(-1))).replaceAll(/\n[ \t]*(?=\n)/g, '');
}

const MAX_CHARS = 60;

function editsOf(places: readonly WebPlace[], from: number): readonly WebEdit[] {
  const found = new Map<string, { readonly to: string; readonly offsets: number[] }>();
  for (const { start, to, from: written } of places) {
    const text = written.replaceAll(/\s+/g, ' ').replace(/;$/, '');
    const short = text.length > MAX_CHARS ? `${text.slice(0, MAX_CHARS - 1)}…` : text;
    const known = found.get(short);
    if (known === undefined) found.set(short, { to: to.replace(/;$/, ''), offsets: [from + start] });
    else known.offsets.push(from + start);
  }
  return [...found].map(([written, edit]) => ({ from: written, ...edit }));
}

/** What stands before the parameters of a worker's method. */
const METHOD = /export default \{\s+(?:async )?fetch(?:: async |: )?\($/;

/** From the bracket behind the parameters on; a method of an object loses the object, a route its call. */
function functionWith(rest: string, parameters: string, isMethod: boolean): string {
  const block = rest.replace(/^\)(?: =>)? ?/, '').trimEnd();
  const inner = isMethod ? block.replace(/,?\s*\};?$/, '') : block.replace(/\}\);$/, '};');
  const plain = /\n {2}\}$/.test(inner) ? inner.replaceAll(/^ {2}/gm, '') : inner;
  return `${/\bawait\b/.test(plain) ? 'async ' : ''}${parameters} => ${plain}${plain.endsWith(';') ? '' : ';'}`;
}

/** Longer files are not repeated. */
const MAX_LINES = 60;
/** Statements that only export the function or make its server, or say what is so in any case. */
const OF_EXPORT =
  /^(?:export default [\w$.]+(?:\(\w*\))?;|export \{|(?:module\.)?exports(?:\.\w+)? = \w+;|"use strict"|(?:const|let|var) (?:app|router|server|fastify|\{ ?Router ?\}) = |(?:app|router|server|fastify|serve|export default serve)[.(])/;
/** Imports of web frameworks, which a transform needs none of. */
const OF_FRAMEWORK =
  /^(?:import [^;]*|(?:const|let|var) [^;]*require\()"(?:express|hono|koa|fastify|next|body-parser|cors|helmet|@koa\/|koa-|@hono\/|@fastify\/|@vercel\/|@netlify\/|@google-cloud\/functions|firebase-functions|aws-lambda|@azure\/functions|express-)/;

/** The file with the function in the place of the handler; undefined where it is long, or types would be missing. */
function fileWith(
  code: string,
  { start, kind, text }: { readonly start: number; readonly kind: Kind; readonly text: string },
): string | undefined {
  if (!/return \{[\s\S]*?(?:message|text)\b|return \w+;/.test(text.replaceAll('return null;', '')))
    return undefined;
  const statements = statementsOf(code);
  const own = statements.findLast((each) => each.start <= start);
  const others = statements.filter(
    (each) => each !== own && !OF_EXPORT.test(each.text) && !OF_FRAMEWORK.test(each.text),
  );
  if (kind === 'typescript' && others.some((each) => /\bfunction\b|=>/.test(each.text))) return undefined;
  const head = kind === 'commonjs' ? 'module.exports = ' : 'export default ';
  const written = statements.flatMap((each) =>
    each === own ? [head + text] : others.includes(each) ? [each.text] : [],
  );
  const file = written.join('\n');
  return file.split('\n').length > MAX_LINES ? undefined : file;
}
