/* Values that a template prints as they are, and that people read otherwise: cents, times in seconds, HTML. */
import type { AdviceNote } from './evaluation-advice.ts';
import type { Evaluation } from '../../hook/hook.ts';
import { codeOfInside, textFile } from '../calculations.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../json.ts';
import type { HookRequest } from '../../request.ts';
import { centsAt } from './minor-units.ts';
import { readerOf } from './root-reader.ts';

/** A template that was rendered, with what it reads. */
export interface PrintedScope {
  readonly mapping: Evaluation['mapping'];
  readonly request: HookRequest;
  readonly item: JsonValue | undefined;
  readonly rendered: Evaluation['trace']['templates'][number];
}

/** One value with its place. */
interface Printed {
  readonly path: string;
  readonly name: string;
  readonly value: JsonValue;
  /** What has it. */
  readonly object: JsonObject;
  readonly read: (path: string) => JsonValue | undefined;
  /** The file of a transform that prints it otherwise; undefined where the template is not simple enough for that. */
  readonly written: (code: (from: string) => string) => string | undefined;
}

const LONE_PATH = /\{\{\s{0,9}([A-Za-z_][\w.]{0,200})\s{0,9}\}\}/g;
/** A key may be made of any of them. */
const TEXTS: ReadonlySet<string> = new Set(['messageTemplate', 'textTemplate']);

/** The first of each kind of one template. */
export function printedNotes(scope: PrintedScope): readonly AdviceNote[] {
  const { rendered } = scope;
  const source = rendered.source?.template.source ?? '';
  const printed = TEXTS.has(rendered.field) ? printedIn(source, scope) : [];
  const rules = [
    ['minor_units', UNIT.test(source) ? () => undefined : centsText],
    ['printed_time', timeText],
    ['printed_html', htmlText],
  ] as const;
  return rules.flatMap(([code, rule]) => {
    for (const each of printed) {
      const text = rule(each);
      if (text !== undefined) return [{ code, text, names: [each.path], at: rendered.at }];
    }
    return [];
  });
}

function printedIn(source: string, scope: PrintedScope): readonly Printed[] {
  const { request, item } = scope;
  const read = readerOf(request, item);
  return [...source.matchAll(LONE_PATH)].flatMap(([, path = '']) => {
    const keys = path.split('.');
    const name = keys.pop() ?? '';
    const value = read(path);
    const object = keys.length === 0 ? request.payload : read(keys.join('.'));
    return value === undefined
      ? []
      : [
          {
            path,
            name,
            value,
            object: isJsonObject(object) ? object : {},
            read,
            written: (code) => fileFor(path, code, scope),
          },
        ];
  });
}

/** The whole file that prints the value of a path in another way, and all else as it was. */
function fileFor(
  path: string,
  code: (from: string) => string,
  { mapping, rendered }: PrintedScope,
): string | undefined {
  const source = rendered.source?.template.source;
  if (mapping === undefined || mapping.transform !== undefined || source === undefined) return undefined;
  const field = rendered.field === 'textTemplate' ? 'text' : 'message';
  return textFile(source, { id: mapping.id, field }, (inside) => {
    const plain = codeOfInside(inside);
    return inside === path && plain !== undefined ? code(plain) : plain;
  });
}

/** A template that says so knows the unit. */
const UNIT = /\b(?:cents?|pence|(?:smallest|minor|smaller) unit)/i;

/** An amount without a point beside a currency: most likely cents. */
function centsText({ path, name, object, read, written }: Printed): string | undefined {
  const cents = centsAt(path, read);
  if (cents === undefined) return undefined;
  const { value, currency } = cents;
  const from = /^(?:payload|item)\b/.test(path) ? path : `payload.${path}`;
  const formatted = beside(object, name, /format|display|decimal|string/i);
  const how =
    formatted === undefined
      ? `a template cannot divide; for ${(value / 100).toFixed(2)} ${written((each) => `(${each} / 100).toFixed(2)`) ?? `write a transform with (${from} / 100).toFixed(2)`}`
      : `the sender writes it in ${formatted}, too: write {{${sibling(path, formatted)}}}`;
  return `${path} is ${value}, and many senders count ${currency} in cents (Stripe does): ${how}`;
}

const A_TIME =
  /(?:^|_)(?:at|on|date|time|timestamp|ts|created|updated|expires|due|since)$|(?:At|Date|Time|Timestamp)$/;
/** From 2001 to the year 2100, in seconds and in milliseconds. */
const SECONDS = { from: 1e9, to: 4.1e9 };

/** A time as the number that programs keep. */
function timeText({ path, name, value }: Printed): string | undefined {
  if (typeof value !== 'number' || !A_TIME.test(name)) return undefined;
  const unit = [1, 1_000].find((each) => value >= SECONDS.from * each && value < SECONDS.to * each);
  return unit === undefined
    ? undefined
    : `${path} is ${value}, which is a time in ${unit === 1 ? 'seconds' : 'milliseconds'}: for a date write {{date ${path} "yyyy-MM-dd HH:mm"}}, with tz="Europe/Berlin" behind it for a time zone`;
}

/** Markdown may have a tag in it, too, and does not begin with one. */
const TAG = /^\s*<(?:p|br|div|span|b|i|a|ul|ol|table|h[1-6]|html|!doctype)(?:\s[^<>]{0,300})?\/?>/i;
const ENTITY = /&(?:amp|lt|gt|quot|nbsp|apos|#\d{1,5});/;

/** HTML, which a template prints as it came. */
function htmlText({ path, name, value, object, written }: Printed): string | undefined {
  if (typeof value !== 'string' || !(TAG.test(value) || ENTITY.test(value))) return undefined;
  const plain = beside(object, name, /plain|text|stripped|raw/i);
  const from = /^(?:payload|item)\b/.test(path) ? path : `payload.${path}`;
  const how =
    plain === undefined
      ? `for text without tags ${written(withoutTags) ?? `write a transform with ${withoutTags(from)}`}`
      : `the sender writes it in ${plain} as plain text, too: write {{${sibling(path, plain)}}}`;
  const what = TAG.test(value) ? 'is HTML' : 'is text with characters of HTML (&amp; and such)';
  return `${path} ${what}, and a template prints it as it came: ${how}`;
}

const withoutTags = (from: string): string =>
  `String(${from} ?? '').replace(/<[^>]*>/g, ' ').replace(/&nbsp;/g, ' ').replace(/&#(\\d+);/g, (_, code) => String.fromCodePoint(code)).replace(/&amp;/g, '&')`;

/** `{{truncate text 20}}`, which counts characters. */
const TRUNCATED = /\{\{\s{0,9}truncate\s{1,9}([A-Za-z_][\w.]{0,200})\s{1,9}(\d{1,3})\s{0,9}\}\}/g;
/** A heading of more characters is meant to be short; a text of fewer words is a name or an id. */
const FEW_CHARS = 25;
const MANY_WORDS = 12;
const CHARS_OF_WORD = 7;

/** A text of many words of which a few characters are left, as where words are counted. */
export function truncatedNotes({ request, item, rendered }: PrintedScope): readonly AdviceNote[] {
  const read = readerOf(request, item);
  const source = rendered.source?.template.source ?? '';
  return [...source.matchAll(TRUNCATED)].flatMap(([whole, path = '', limit = '']): readonly AdviceNote[] => {
    const value = read(path);
    const count = Number(limit);
    if (typeof value !== 'string' || count > FEW_CHARS || value.trim().split(/\s+/).length < MANY_WORDS)
      return [];
    const more = Math.max(100, count * CHARS_OF_WORD);
    const text = `${whole} leaves ${count} of the ${value.length} characters of ${path}: truncate counts characters. For about ${count} words write ${whole.replace(/\d+(?=\s*\}\}$)/, String(more))}`;
    return [{ code: 'truncated', text, names: [path], at: rendered.at }];
  });
}

/** A block whose elements are printed with nothing between them. */
const CLOSE_BLOCK =
  /\{\{#each\s{1,9}([A-Za-z_][\w.]{0,200})\s{0,9}\}\}(\{\{[^{}#]{1,200}\}\}|\{\{[^{}#]{1,200}\}\}[^{}\s]{0,20}\{\{[^{}#/]{1,200}\}\})\{\{\/each\}\}/g;
/** `{{#if path}}` with another text for nothing; without one, that 0 prints nothing is mostly meant. */
const IF_BLOCK = /\{\{#if\s{1,9}([A-Za-z_][\w.]{0,200})\s{0,9}\}\}([^]{0,500}?)\{\{else\}\}/g;

/** Blocks that do something else than they look like: elements that run together, and 0 that counts as nothing. */
export function blockNotes({ request, item, rendered }: PrintedScope): readonly AdviceNote[] {
  const read = readerOf(request, item);
  const source = rendered.source?.template.source ?? '';
  const noteOf = (path: string, text: string): AdviceNote => ({
    code: 'odd_block',
    text,
    names: [path],
    at: rendered.at,
  });
  const joined = [...source.matchAll(CLOSE_BLOCK)].flatMap(([whole, path = '', inside = '']) => {
    const value = read(path);
    if (!Array.isArray(value) || value.length < 2 || /@last|@first/.test(inside)) return [];
    // What ends a line stands between them already.
    if (/\s"/.test(JSON.stringify(value).replaceAll(String.raw`\n`, ' '))) return [];
    const [, lone] = /^\{\{\s*([A-Za-z_][\w.]*)\s*\}\}$/.exec(inside) ?? [];
    const fix =
      lone === undefined
        ? whole.replace(/\{\{\/each\}\}$/, '; {{/each}}')
        : `{{join ${path} ", "${lone === 'this' ? '' : ` "${lone.replace(/^this\./, '')}"`}}}`;
    return [
      noteOf(
        path,
        `nothing stands between the ${value.length} elements of ${path}, so they run into each other: write ${fix}`,
      ),
    ];
  });
  const zeros = [...source.matchAll(IF_BLOCK)].flatMap(([, path = '', inside = '']) =>
    read(path) === 0 && inside.includes(`{{${path}}}`) && !inside.includes('{{/if}}')
      ? [
          noteOf(
            path,
            `${path} is 0, and {{#if}} takes 0 for nothing: write {{#if ${path} includeZero=true}}`,
          ),
        ]
      : [],
  );
  return [...joined, ...zeros];
}

/** A text of the same object whose name is that of the value with a word more, or that word alone. */
function beside(object: JsonObject, name: string, word: RegExp): string | undefined {
  return Object.keys(object).find((key) => {
    const value = object[key];
    const isOwn = key.toLowerCase().includes(name.toLowerCase()) && key !== name;
    return (
      isOwn &&
      word.test(key) &&
      /^\w+$/.test(key) &&
      typeof value === 'string' &&
      value !== '' &&
      !TAG.test(value)
    );
  });
}

const sibling = (path: string, name: string): string => [...path.split('.').slice(0, -1), name].join('.');
