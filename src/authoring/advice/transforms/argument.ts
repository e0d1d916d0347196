/**
 * Transforms that take their argument for the body: a function of one name that reads fields of it which no argument
 * has, or that takes such fields out of it. Only entries are looked at, in the one form in which esbuild prints a file;
 * TypeScript with `defineTransform` is told by the compiler.
 */
import { quoted } from '../../../base/finding.ts';
import type { ModuleSubject } from '../../../engine/sandbox/facts.ts';
import type { Found } from '../rule.ts';
import { bodyOf, closingOf, partsOf } from './printed-parts.ts';

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

const FUNCTION = String.raw`(?:defineTransform\()?(?:async )?(?:function(?: [\w$]+)?)?\(`;

/** An export under one of some names: the function itself, up to the bracket before its parameters. */
const direct = (names: string): RegExp =>
  new RegExp(
    String.raw`^(?:export (?:const|let|var) (?:${names}) = |export (?:default )?(?=(?:async )?function (?:${names})\()|(?:module\.)?exports\.(?:${names}) = )${FUNCTION}`,
    'm',
  );
/** What stands for the whole of a module. */
const WHOLE = new RegExp(String.raw`^(?:export default |(?:module\.)?exports = )${FUNCTION}`, 'm');
/** A function that is exported by its name. */
const byName = (names: string): RegExp =>
  new RegExp(
    String.raw`^(?:export default ([\w$]+);|export \{[^}]*?(?<![\w$])([\w$]+) as (?:${names})\b[^}]*\};|export \{[^}]*?(?<![\w$])(${names})(?=[\s,}])[^}]*\};|(?:module\.)?exports(?:\.(?:${names}))? = ([\w$]+);)`,
    'm',
  );

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

/** What is read of the argument that it has not, by the functions that mappings use. */
export function misreadArgument(module: ModuleSubject): Printed | undefined {
  if (isTyped(module)) return undefined;
  return module.exports
    .map((name) => findExported(module.code, name))
    .map((exported) => exported && findMisread(exported))
    .find((found) => found !== undefined);
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

function findExported(code: string, name: string): Exported | undefined {
  const start = startOfParameters(code, name);
  if (start === undefined) return undefined;
  const end = closingOf(code, start);
  const head = code.slice(start, end);
  return { start, head, parameters: partsOf(head), end, body: bodyOf(code, end) };
}

function findMisread({ start, head, parameters, end, body }: Exported): Printed | undefined {
  const [first = ''] = parameters;
  if (first.startsWith('{')) return findTaken(first, start + head.indexOf('{'));
  return /^[A-Za-z_$][\w$]*$/.test(first) ? findRead(body, first, end) : undefined;
}

/** Where the parameters of an export begin. */
function startOfParameters(code: string, exported: string): number | undefined {
  const isDefault = exported === 'default';
  const names = isDefault ? 'default|transform' : exported.replaceAll('$', String.raw`\$`);
  const found = (isDefault ? WHOLE.exec(code) : null) ?? direct(names).exec(code);
  if (found !== null) return found.index + found[0].length;
  const [, ofDefault, ...others] = byName(names).exec(code) ?? [];
  const own = [isDefault ? ofDefault : undefined, ...others].find((each) => each !== undefined);
  const name = own?.replaceAll('$', String.raw`\$`);
  if (name === undefined) return undefined;
  const head = new RegExp(
    String.raw`^(?:(?:const|let|var) ${name} = |(?=(?:async )?function ${name}\())${FUNCTION}`,
    'm',
  );
  const declared = head.exec(code);
  return declared === null ? undefined : declared.index + declared[0].length;
}

const WHAT = 'a transform is called with one object, {payload, headers, query, path, url, now}';

const nameOf = (part: string): string => /^["']?([\w$]+)/.exec(part)?.[1] ?? '';

/** Names for the body as a whole, as other tools hand it over. */
const BODIES: readonly string[] = ['body', 'rawBody', 'requestBody', 'json', '$json'];

/** `({ data, type }) =>`: fields that the argument has not; one with a default beside the body may be meant for tests. */
function findTaken(pattern: string, offset: number): Printed | undefined {
  const parts = partsOf(pattern.slice(1, closingOf(pattern, 1)));
  const strange = parts.filter((part) => !part.startsWith('...') && !INPUT.includes(nameOf(part)));
  const hasBody = parts.some((part) => nameOf(part) === 'payload');
  const first = hasBody ? strange.find((part) => /^[\w$]+$/.test(part)) : strange[0];
  if (first === undefined) return undefined;
  const name = nameOf(first);
  const fields = `payload: { ${strange.join(', ')} }`.replaceAll(/\s+/g, ' ');
  const own = BODIES.includes(name) ? `payload in place of ${name}` : `${fields} in their place`;
  const word = new RegExp(String.raw`(?<![\w$])${name.replaceAll('$', String.raw`\$`)}(?![\w$])`);
  return {
    message: `${WHAT}, which has no ${name}: it is undefined`,
    hint: hasBody
      ? `write payload.${name}: payload is the whole body`
      : `write ${own.length > 200 ? 'payload: { … }' : own}: the body is its payload`,
    offset: offset + pattern.search(word),
    length: name.length,
  };
}

/** `(event) => event.data`: reads of one name that the argument has not, and never of its payload. */
function findRead(body: string, name: string, from: number): Printed | undefined {
  const escaped = name.replaceAll('$', String.raw`\$`);
  // A function inside that has the name for something else makes the reads ambiguous.
  if (
    new RegExp(
      String.raw`\([^()]*(?<![\w$.])${escaped}(?![\w$])[^()]*\) =>|(?:const|let|var|function|catch) \(?${escaped}(?![\w$])`,
    ).test(body)
  )
    return undefined;
  const reads = [
    ...body.matchAll(
      new RegExp(
        String.raw`(?<![\w$.])${escaped}(?:\??\.([A-Za-z_$][\w$]*)|(?:\?\.)?\["([A-Za-z_$][\w$]*)"\])(?!\s*=[^=])`,
        'g',
      ),
    ),
  ].map(({ index, 1: dotted, 2: inBrackets }) => ({ index, field: dotted ?? inBrackets ?? '' }));
  const taken = new RegExp(String.raw`(?:const|let|var) (\{[^;]*\}) = ${escaped};`).exec(body);
  const parts =
    taken === null ? [] : partsOf((taken[1] ?? '').slice(1, -1)).filter((part) => !part.startsWith('...'));
  const all = [...reads, ...parts.map((part) => ({ index: taken?.index ?? 0, field: nameOf(part) }))];
  const strange = all.find(({ field }) => !INPUT.includes(field));
  if (strange === undefined || all.some(({ field }) => field === 'payload')) return undefined;
  if (taken !== null && strange.index === taken.index)
    return {
      message: `${WHAT}, which has no ${strange.field}: it is undefined`,
      hint: `write ${name === 'payload' ? '({ payload }) in place of (payload)' : `${name}.payload in place of ${name}`}: the body is its payload`,
      offset: from + taken.index,
      length: taken[0].length,
    };
  const { field } = strange;
  const read = BODIES.includes(field) ? `${name}.payload` : `${name}.payload.${field}`;
  const way =
    name === 'payload' ? '({ payload }) in place of (payload)' : `${read} in place of ${name}.${field}`;
  return {
    message: `${WHAT}, which has no ${field}: ${name}.${field} is undefined`,
    hint: `write ${way}: the body is its payload`,
    offset: from + strange.index,
    length: name.length,
  };
}
