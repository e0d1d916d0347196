/** A transform that is still the handler of a web framework or of a cloud function: found by how it reads and answers. */
import { bodyOf, closingOf, partsOf } from './printed-parts.ts';

export interface WebHandler {
  /** The name of its request. */
  readonly request: string;
  /** The first place where it reads the request or answers it, in the printed code. */
  readonly offset: number;
  readonly length: number;
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

/** The handler in a printed file; undefined where its first parameter is no request for certain. */
export function findWebHandler(code: string, start: number | undefined): WebHandler | undefined {
  if (start !== undefined) return handlerAt(code, start, true);
  for (const { 0: head, index } of code.matchAll(NAMED)) {
    const handler = handlerAt(code, index + head.length, false);
    if (handler !== undefined) return handler;
  }
  return undefined;
}

function handlerAt(code: string, start: number, isExported: boolean): WebHandler | undefined {
  const end = closingOf(code, start);
  const names = partsOf(code.slice(start, end)).map((each) => /^[\w$]+/.exec(each)?.[0] ?? '');
  // Functions of Azure get the context first.
  const request = names.find((name) => /^req(?:uest)?$/.test(name)) ?? names[0] ?? '';
  if (!REQUESTS.test(request)) return undefined;
  const answering = names.filter((name) => name !== request && RESPONSES.test(name));
  const place = firstPlace(bodyOf(code, end), request, answering);
  return place && { request, offset: end + place.index, length: place[0].length, isExported };
}

/** A parameter called event is a request where its body is parsed, or where there is one to answer by. */
function firstPlace(
  body: string,
  request: string,
  answering: readonly string[],
): RegExpExecArray | undefined {
  const inner = String.raw`(?<![\w$.])${request}\.(?:request\.|req\.)?`;
  const read = new RegExp(
    String.raw`${inner}(?:rawBody\b|(?:json|formData|parseBody)\(\))|JSON\.parse\((?:await |Buffer\.from\()?${inner}(?:body\b|text\(\))`,
  );
  const plain = new RegExp(String.raw`${inner}body\b`);
  const beside = new RegExp(
    String.raw`${inner}(?:headers|query|method|get\(|header\(|nextUrl)|new URL\(${request}\.url\)`,
  );
  const own = [...answering, ...(CONTEXTS.test(request) ? [request] : [])].join('|');
  const answer = new RegExp(
    String.raw`${own === '' ? '' : String.raw`(?<![\w$.])(?:${own})(?:\.(?:response\.)?body = |(?:\.\w+\([^()\n]*\))*\.(?:json|send|end|sendStatus|text|html)\(|\(null, |\.res = \{)|`}return (?:new (?:Next)?Response|(?:Next)?Response\.json)\(|return \{\s*(?:statusCode|status|headers|body)\b`,
  );
  const response = answering.find((name) => /^res(?:ponse)?$/.test(name));
  const used =
    response === undefined
      ? undefined
      : new RegExp(String.raw`(?<![\w$.])${response}\.(?:\w+\(|statusCode\b)`);
  const isEvent = EVENTS.test(request);
  const isHandler =
    read.test(body) ||
    (plain.test(body) && (!isEvent || answering.length > 0)) ||
    (!isEvent && beside.test(body) && answer.test(body)) ||
    (/^_?req/.test(request) && used?.test(body));
  if (!isHandler) return undefined;
  return [read, plain, answer, beside, ...(used === undefined ? [] : [used])]
    .map((form) => form.exec(body))
    .filter((found) => found !== null)
    .toSorted((a, b) => a.index - b.index)[0];
}
