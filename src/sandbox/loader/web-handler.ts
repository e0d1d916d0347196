/*
 * What to write in a transform that was a handler of a web framework or of a cloud function: each place where it reads
 * the request or answers it, with what stands there here. All of them, as one alone gives the next error.
 */

/** One kind of place, in the printed code. */
export interface WebEdit {
  readonly from: string;
  readonly to: string;
  readonly offsets: readonly number[];
}

export interface WebHandler {
  /** Its parameters as they are written, and as they have to be. */
  readonly parameters: { readonly from: string; readonly to: string };
  readonly edits: readonly WebEdit[];
}

/** Names of the first parameter in examples of Express, Next, Koa, Hono, Lambda and Workers. */
const REQUESTS = /^_?(?:req|request|ctx|context|c|event|evt)$/;
/** Those that may well be the event of the sender. */
const EVENTS = /^(?:event|evt|c|context)$/;
const RESPONSES = /^_?(?:res|response|context|ctx|callback|env)$/;

/** The edits of a function of a web framework; undefined where its first parameter is no request for certain. */
export function findWebHandler(
  parameters: readonly string[],
  body: string,
  from: number,
): WebHandler | undefined {
  const names = parameters.map((each) => /^[\w$]+/.exec(each)?.[0] ?? '');
  const [request = '', response = ''] = names;
  if (!REQUESTS.test(request)) return undefined;
  const edits = editsIn(body, { request, response, from });
  const reads = edits.filter(({ to }) => to === 'payload');
  const isSure = reads.some(
    (edit) => !EVENTS.test(request) || edit.from !== `${request}.body` || RESPONSES.test(response),
  );
  if (!isSure) return undefined;
  const taken = ['payload', 'headers', 'query'].filter((name) =>
    edits.some(({ to }) => new RegExp(`^${name}\\b`).test(to)),
  );
  return { parameters: { from: `(${parameters.join(', ')})`, to: `({ ${taken.join(', ')} })` }, edits };
}

interface Names {
  readonly request: string;
  readonly response: string;
  readonly from: number;
}

function editsIn(body: string, { request, response, from }: Names): readonly WebEdit[] {
  const patterns: readonly (readonly [string, (name: string) => string])[] = [
    [String.raw`(?:await )?${request}\.(?:req\.)?(?:json|formData)\(\)`, () => 'payload'],
    [
      String.raw`JSON\.parse\(${request}\.(?:body|rawBody|request\.rawBody)\b(?: \?\? [^()]{1,9})?\)`,
      () => 'payload',
    ],
    [String.raw`${request}\.(?:request\.|req\.)?(?:body|rawBody)\b`, () => 'payload'],
    [
      String.raw`${request}\.(?:request\.|req\.)?(?:headers\.get|get|header)\(["']([\w-]+)["']\)`,
      (name) => `headers["${name.toLowerCase()}"]`,
    ],
    [String.raw`${request}\.(?:request\.|req\.)?(headers|query)\b`, (name) => name],
    [String.raw`${request}\.queryStringParameters\b`, () => 'query'],
  ];
  const found = new Map<string, { readonly to: string; readonly offsets: number[] }>();
  const add = (written: string, to: string, offset: number): void => {
    const known = found.get(written);
    if (known === undefined) found.set(written, { to, offsets: [offset] });
    else known.offsets.push(offset);
  };
  let rest = body;
  for (const [pattern, to] of patterns) {
    const reads = new RegExp(String.raw`(?<![\w$.])${pattern}`, 'g');
    for (const match of rest.matchAll(reads)) add(match[0], to(match[1] ?? ''), from + match.index);
    rest = rest.replaceAll(reads, (written) => ' '.repeat(written.length));
  }
  for (const match of rest.matchAll(answerPattern(response))) {
    const written = match[0].startsWith('return {') ? 'return { statusCode: … }' : `${match[0]}…)`;
    add(written, 'return { message: … }', from + match.index);
  }
  return [...found].map(([written, edit]) => ({ from: written, ...edit }));
}

/** How a handler answers: by its second parameter, an object with a status, or a Response. */
function answerPattern(response: string): RegExp {
  const own = RESPONSES.test(response)
    ? `(?<![\\w$.])${response}\\.(?:status|json|send|end|sendStatus|writeHead)\\(|`
    : '';
  return new RegExp(
    `${own}return (?:new Response|Response\\.json|NextResponse\\.json)\\(|return \\{\\s*(?=statusCode\\b)`,
    'g',
  );
}
