/**
 * Finds transforms that confuse their argument with the body: a function of one name that reads fields that
 * the argument does not have, or that destructures such fields. It reads only entries, in the one form in
 * which esbuild prints a file. The compiler reports TypeScript with `defineTransform`.
 */
import { say } from '../../../base/finding.ts';
import type { ModuleSubject } from '../../../engine/sandbox/facts.ts';
import type { LookFinding } from '../rule.ts';
import { bodyOf, closingOf, partsOf } from './printed-parts.ts';

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

const direct = (names: string): RegExp =>
  new RegExp(
    String.raw`^(?:export (?:const|let|var) (?:${names}) = |export (?:default )?(?=(?:async )?function (?:${names})\()|(?:module\.)?exports\.(?:${names}) = )${FUNCTION}`,
    'm',
  );
const WHOLE = new RegExp(String.raw`^(?:export default |(?:module\.)?exports = )${FUNCTION}`, 'm');
const byName = (names: string): RegExp =>
  new RegExp(
    String.raw`^(?:export default ([\w$]+);|export \{[^}]*?(?<![\w$])([\w$]+) as (?:${names})\b[^}]*\};|export \{[^}]*?(?<![\w$])(${names})(?=[\s,}])[^}]*\};|(?:module\.)?exports(?:\.(?:${names}))? = ([\w$]+);)`,
    'm',
  );

const isTyped = ({ language, source }: ModuleSubject): boolean =>
  language === 'typescript' && source.text.includes('defineTransform');

/** Finds reads of fields that the argument does not have, in the functions that mappings use. */
export function misreadArgument(module: ModuleSubject): readonly LookFinding[] {
  if (isTyped(module)) return [];
  const found = module.exports.flatMap((name) => {
    const exported = findExported(module.code, name);
    const misread = exported && findMisread(exported);
    // Code that esbuild added itself has no place in the file.
    const at = misread && module.placeOf(misread.offset, misread.length);
    if (misread === undefined || at === undefined) return [];
    const { field, read, way } = misread;
    const message = say`a transform is called with one object, {payload, headers, query, path, url, now}, which has no ${field}: ${read} is undefined`;
    return [{ message, at, hint: say`write ${way}: the body is its payload` }];
  });
  return found.slice(0, 1);
}

interface Misread {
  readonly field: string;
  /** What is undefined. */
  readonly read: string;
  readonly way: string;
  readonly offset: number;
  readonly length: number;
}

interface ExportedFunction {
  readonly start: number;
  readonly head: string;
  readonly parameters: readonly string[];
  readonly end: number;
  readonly body: string;
}

function findExported(code: string, name: string): ExportedFunction | undefined {
  const start = startOfParameters(code, name);
  if (start === undefined) return undefined;
  const end = closingOf(code, start);
  const head = code.slice(start, end);
  return { start, head, parameters: partsOf(head), end, body: bodyOf(code, end) };
}

function findMisread({ start, head, parameters, end, body }: ExportedFunction): Misread | undefined {
  const [first = ''] = parameters;
  if (first.startsWith('{')) return findTaken(first, start + head.indexOf('{'));
  return /^[A-Za-z_$][\w$]*$/.test(first) ? findRead(body, first, end) : undefined;
}

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

const nameOf = (part: string): string => /^["']?([\w$]+)/.exec(part)?.[1] ?? '';

const BODIES: readonly string[] = ['body', 'rawBody', 'requestBody', 'json', '$json'];

/** Matches `({ data, type }) =>`. A field with a default beside the body may be meant for tests. */
function findTaken(pattern: string, offset: number): Misread | undefined {
  const parts = partsOf(pattern.slice(1, closingOf(pattern, 1)));
  const strange = parts.filter((part) => !part.startsWith('...') && !INPUT.includes(nameOf(part)));
  const hasBody = parts.some((part) => nameOf(part) === 'payload');
  const first = hasBody ? strange.find((part) => /^[\w$]+$/.test(part)) : strange[0];
  if (first === undefined) return undefined;
  const field = nameOf(first);
  const fields = `payload: { ${strange.join(', ')} }`.replaceAll(/\s+/g, ' ');
  const own = BODIES.includes(field)
    ? `payload in place of ${field}`
    : `${fields.length > 200 ? 'payload: { … }' : fields} in their place`;
  const word = new RegExp(String.raw`(?<![\w$])${field.replaceAll('$', String.raw`\$`)}(?![\w$])`);
  const way = hasBody ? `payload.${field}` : own;
  return { field, read: 'it', way, offset: offset + pattern.search(word), length: field.length };
}

/** Matches `(event) => event.data`: reads of one name, and never of its payload. */
function findRead(body: string, name: string, from: number): Misread | undefined {
  const escaped = name.replaceAll('$', String.raw`\$`);
  // An inner function with the same name for something else makes the reads ambiguous.
  const other = new RegExp(
    String.raw`\([^()]*(?<![\w$.])${escaped}(?![\w$])[^()]*\) =>|(?:const|let|var|function|catch) \(?${escaped}(?![\w$])`,
  );
  if (other.test(body)) return undefined;
  const read = new RegExp(
    String.raw`(?<![\w$.])${escaped}(?:\??\.([A-Za-z_$][\w$]*)|(?:\?\.)?\["([A-Za-z_$][\w$]*)"\])(?!\s*=[^=])`,
    'g',
  );
  const taken = new RegExp(String.raw`(?:const|let|var) (\{[^;]*\}) = ${escaped};`).exec(body);
  const parts = partsOf((taken?.[1] ?? '').slice(1, -1)).filter((part) => !part.startsWith('...'));
  const all = [
    ...Array.from(body.matchAll(read), ({ index, 1: dotted, 2: inBrackets }) => ({
      index,
      field: dotted ?? inBrackets ?? '',
      length: name.length,
    })),
    ...parts.map((part) => ({
      index: taken?.index ?? 0,
      field: nameOf(part),
      length: taken?.[0].length ?? 0,
    })),
  ];
  const strange = all.find(({ field }) => !INPUT.includes(field));
  if (strange === undefined || all.some(({ field }) => field === 'payload')) return undefined;
  const { field, index, length } = strange;
  const isTaken = index === taken?.index;
  const better = `${name}.payload${isTaken || BODIES.includes(field) ? '' : `.${field}`}`;
  return {
    field,
    read: isTaken ? 'it' : `${name}.${field}`,
    way:
      name === 'payload'
        ? '({ payload }) in place of (payload)'
        : `${better} in place of ${name}${isTaken ? '' : `.${field}`}`,
    offset: from + index,
    length,
  };
}
