/**
 * Transforms that take their argument for the body: a function of one name that reads fields of it which no argument
 * has, or that takes such fields out of it. Only entries are looked at, in the one form in which esbuild prints a file;
 * TypeScript with `defineTransform` is told by the compiler.
 */
import { quoted } from '../../finding.ts';
import type { ModuleSubject } from '../../sandbox/facts.ts';
import type { Found } from '../rule.ts';
import { bodyOf, closingOf, partsOf } from './printed-parts.ts';
import { findWebHandler, type WebHandler } from './web-handler.ts';

/** What the argument of a transform has. */
const INPUT: readonly string[] = [
  'payload',
  'headers',
  'query',
  'path',
  'url',
  'now',
  'exact',
  'item',
  'index',
];

/** The function that is exported, up to the bracket before its parameters. */
const DIRECT =
  /^(?:export default |export (?:const|let) transform = |(?:module\.)?exports(?:\.(?:default|transform))? = |export (?=(?:async )?function transform\())(?:defineTransform\()?(?:async )?(?:function(?: [\w$]+)?)?\(/m;
/** A function that is exported by its name. */
const BY_NAME =
  /^(?:export default ([\w$]+);|export \{\s*([\w$]+) as (?:default|transform)\s*\};|(?:module\.)?exports(?:\.(?:default|transform))? = ([\w$]+);)/m;

/** What is found at a place of the printed code. */
export interface Printed {
  readonly offset: number;
  readonly length: number;
  readonly message: string;
  readonly hint: string;
}

/** A finding at a place of the printed code; none where that is of esbuild's own making. */
export function foundAt({ placeOf }: ModuleSubject, printed: Printed | undefined): readonly Found[] {
  const at = printed && placeOf(printed.offset, printed.length);
  if (printed === undefined || at === undefined) return [];
  return [{ message: quoted(printed.message), hint: quoted(printed.hint), at }];
}

const isTyped = ({ language, source }: ModuleSubject): boolean =>
  language === 'typescript' && source.text.includes('defineTransform');

/** A handler of a web framework, with whether it is exported as a transform is: any other is never called. */
export function webHandler(module: ModuleSubject): (Printed & { readonly isExported: boolean }) | undefined {
  if (!module.isEntry || isTyped(module)) return undefined;
  const web = findWebHandler(module.code, findExported(module.code)?.start);
  return web && { ...describeWeb(web, module), isExported: web.isExported };
}

/** What is read of the argument that it has not. */
export function misreadArgument(module: ModuleSubject): Printed | undefined {
  if (!module.isEntry || isTyped(module) || webHandler(module) !== undefined) return undefined;
  const exported = findExported(module.code);
  return exported && (findMisread(exported) ?? findHeader(exported));
}

/** The function that a file exports as its transform, in the printed code. */
interface Exported {
  readonly start: number;
  /** What stands between its brackets, as a whole and in parts. */
  readonly head: string;
  readonly parameters: readonly string[];
  /** Where its parameters end. */
  readonly end: number;
  readonly body: string;
}

function findExported(code: string): Exported | undefined {
  const start = startOfParameters(code);
  if (start === undefined) return undefined;
  const end = closingOf(code, start);
  const head = code.slice(start, end);
  return { start, head, parameters: partsOf(head), end, body: bodyOf(code, end) };
}

/** A header asked for by a name that is written otherwise here: `headers["X-GitHub-Event"]`, `headers.get("…")`. */
function findHeader({ head, parameters, end, body }: Exported): Printed | undefined {
  const [first = ''] = parameters;
  const isTaken = first.startsWith('{') && /(?<![\w$.])headers\b/.test(head);
  const root = isTaken ? 'headers' : /^[A-Za-z_]\w*$/.test(first) ? String.raw`${first}\.headers` : undefined;
  if (root === undefined || /(?:const|let|var) headers\b/.test(body)) return undefined;
  const read = new RegExp(
    String.raw`(?<![\w$.])${root}\??\.?(?:\["([\w-]*[A-Z][\w-]*)"\]|(get)\("([\w-]+)"\))`,
  ).exec(body);
  if (read === null) return undefined;
  const [text, name = '', get, asked = name] = read;
  const plain = text.slice(0, text.search(/\??\.?(?:\[|get\()/));
  return {
    message:
      get === undefined
        ? `header names are in lower case here, so ${text} is undefined`
        : `headers is a plain object here, so ${plain}.get is no function`,
    hint: `write ${plain}["${asked.toLowerCase()}"]`,
    length: text.length,
    offset: end + read.index,
  };
}

function findMisread({ start, head, parameters, end, body }: Exported): Printed | undefined {
  const [first = '', ...others] = parameters;
  if (first.startsWith('{')) return findTaken(first, start + head.indexOf('{'));
  return /^[A-Za-z_$][\w$]*$/.test(first) ? findRead(body, { name: first, others, from: end }) : undefined;
}

function describeWeb(
  { request, offset, length, isExported }: WebHandler,
  { language }: ModuleSubject,
): Printed {
  const head = language === 'commonjs' ? 'module.exports =' : 'export default';
  return {
    message: `this is a handler of a web framework: ${WHAT}, whose payload is the body, and what it returns becomes the run`,
    hint: `write ${head} ({ payload, headers, query }${language === 'typescript' ? ': any' : ''}) => { … }${isExported ? '' : ', the one function of the file'}: payload in place of the body of ${request}, headers and query as plain objects, return { message: … } in place of an answer, and return null where no run is meant`,
    offset,
    length,
  };
}

/** Where the parameters begin. */
function startOfParameters(code: string): number | undefined {
  const direct = DIRECT.exec(code);
  if (direct !== null) return direct.index + direct[0].length;
  const [, ...names] = BY_NAME.exec(code) ?? [];
  const name = names.find((each) => each !== undefined)?.replaceAll('$', String.raw`\$`);
  if (name === undefined) return undefined;
  const head = new RegExp(
    `^(?:async )?(?:function ${name}|(?:const|let|var) ${name} = (?:defineTransform\\()?(?:async )?(?:function(?: \\w+)?)?)\\(`,
    'm',
  );
  const found = head.exec(code);
  return found === null ? undefined : found.index + found[0].length;
}

const WHAT = 'a transform is called with one object, {payload, headers, query, path, url, now}';

const nameOf = (part: string): string => /^["']?([\w$]+)/.exec(part)?.[1] ?? '';

/** `({ data, type }) =>`: fields that the argument has not. */
function findTaken(pattern: string, offset: number): Printed | undefined {
  const parts = partsOf(pattern.slice(1, closingOf(pattern, 1)));
  const strange = parts.filter((part) => !part.startsWith('...') && !INPUT.includes(nameOf(part)));
  const [first] = strange;
  if (first === undefined) return undefined;
  if (parts.some((part) => nameOf(part) === 'payload')) return findBeside(strange, pattern, offset);
  const name = nameOf(first);
  return {
    message: `${WHAT}, which has no ${name}: it is undefined`,
    hint: `the body is its payload: write ({ ${takenAs(parts, strange)} })`,
    offset: offset + pattern.indexOf(name),
    length: name.length,
  };
}

/** `({ type, payload }) =>`: a field of the body beside the body; one with a default may well be meant for tests. */
function findBeside(strange: readonly string[], pattern: string, offset: number): Printed | undefined {
  const name = strange.find((part) => /^[\w$]+$/.test(part));
  if (name === undefined) return undefined;
  return {
    message: `${WHAT}, which has no ${name}: it is undefined`,
    hint: `payload is the whole body: take ${name} out of the brackets, and write payload.${name}; a field payload of the body is payload.payload`,
    offset:
      offset +
      pattern.search(new RegExp(String.raw`(?<![\w$])${name.replaceAll('$', String.raw`\$`)}(?![\w$])`)),
    length: name.length,
  };
}

/** Names for the body as a whole, as other tools hand it over; beside fields of a body it is one of them. */
const BODIES: readonly string[] = ['body', 'rawBody', 'requestBody', 'json', '$json'];
/** What other tools hand over beside the body. */
const BESIDE_BODIES: readonly string[] = ['method', 'httpMethod', 'params', 'cookies', 'req', 'request'];

const isAllOfBody = (names: readonly string[]): boolean =>
  names.some((name) => BODIES.includes(name)) &&
  names.every((name) => BODIES.includes(name) || BESIDE_BODIES.includes(name));

/** What is taken out of the argument, written as it is here: the body by its own name, or fields of the body. */
function takenAs(parts: readonly string[], strange: readonly string[]): string {
  const own = parts.filter((part) => !strange.includes(part) && !part.startsWith('...'));
  const rest = parts.filter((part) => part.startsWith('...'));
  const meantParts = isAllOfBody(strange.map(nameOf))
    ? [...own, ...strange.map(renamed), ...rest]
    : [...own, `payload: { ${[...strange, ...rest].join(', ')} }`];
  const meant = meantParts.join(', ').replaceAll(/\s+/g, ' ');
  return meant.length > 200 ? 'payload: { … }' : meant;
}

/** `body`, `body: order`, `body: { items }` and `body = {}`, taken from the payload. */
function renamed(part: string): string {
  if (!BODIES.includes(nameOf(part))) return part;
  const after = part.replace(/^["']?[\w$]+["']?\s*/, '');
  return after.startsWith(':') ? `payload${after}` : `payload: ${part}`;
}

interface FirstParameter {
  readonly name: string;
  /** Parameters behind it, which are never given. */
  readonly others: readonly string[];
  /** Where the parameters end and the body begins. */
  readonly from: number;
}

/** `(event) => event.data`: reads of one name that the argument has not, and never of its payload. */
function findRead(body: string, { name, others, from }: FirstParameter): Printed | undefined {
  const escaped = name.replaceAll('$', String.raw`\$`);
  // A function inside that has the name for something else makes the reads ambiguous.
  if (
    new RegExp(
      String.raw`\([^()]*(?<![\w$.])${escaped}(?![\w$])[^()]*\) =>|(?:const|let|var|function|catch) \(?${escaped}(?![\w$])`,
    ).test(body)
  )
    return undefined;
  // Whose bytes are read is a request of the web, and no body.
  if (new RegExp(String.raw`(?<![\w$.])${escaped}\.(?:text|arrayBuffer|blob)\(`).test(body)) return undefined;
  const reads = [
    ...body.matchAll(new RegExp(String.raw`(?<![\w$.])${escaped}\??\.([A-Za-z_$][\w$]*)(?!\s*=[^=])`, 'g')),
  ];
  const taken = new RegExp(String.raw`(?:const|let|var) \{([^;]*)\} = ${escaped};`).exec(body)?.[1] ?? '';
  if (/(?:^|[\s,])payload\b/.test(taken) || reads.some(([, field]) => field === 'payload')) return undefined;
  const strange = reads.find(([, read = '']) => !INPUT.includes(read));
  if (strange === undefined) return undefined;
  const [, field = ''] = strange;
  const fields = reads.map(([, read = '']) => read);
  const isMixed = fields.some((read) => INPUT.includes(read));
  const isBody = isAllOfBody(fields.filter((read) => !INPUT.includes(read)));
  return {
    message: `${WHAT}, which has no ${field}: ${name}.${field} is undefined`,
    hint: `the body is its payload: write ${readAs({ name, others, field, isMixed, isBody })}`,
    offset: from + strange.index,
    length: name.length,
  };
}

/** What to write for reads of a name: parameters that give it, or each read where it is the argument, too. */
function readAs({
  name,
  others,
  field,
  isMixed,
  isBody,
}: Omit<FirstParameter, 'from'> & {
  readonly field: string;
  readonly isMixed: boolean;
  readonly isBody: boolean;
}): string {
  if (isBody) return `${name}.payload in place of ${name}.${field}`;
  if (isMixed)
    return `${name}.payload.${field} in place of ${name}.${field}, and so for each field of the body`;
  const given = name === 'payload' ? 'payload' : `payload: ${name}`;
  const named = others.filter((other) => INPUT.includes(other) && other !== 'payload');
  return `({ ${[given, ...named].join(', ')} }) in place of (${[name, ...others].join(', ').slice(0, 100)})`;
}
