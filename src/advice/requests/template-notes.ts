/*
 * Templates that print something else than was meant, though nothing in them is empty: a comparison of kinds that are
 * never the same, and one element of a list where there are several.
 */
import type { AdviceNote } from './evaluation-advice.ts';
import type { Evaluation } from '../../hook/hook.ts';
import { isNumeric, isScalar, valueAt, type JsonValue } from '../../json.ts';
import type { HookRequest } from '../../request.ts';
import { openBlocks } from './each-object.ts';
import { firstElement } from './instead.ts';
import { createPathFinder } from './path-candidates.ts';
import { readElement } from './element-advice.ts';
import { blockNotes, printedNotes, truncatedNotes } from './printed-values.ts';
import { readerOf } from './root-reader.ts';
import { plain, shown } from './rule-operands.ts';

type Rendered = Evaluation['trace']['templates'][number];

/** Notes of one request. */
const MAX_NOTES = 5;

/** What templates compare or read that is odd for this request. */
export function templateNotes(evaluation: Evaluation, request: HookRequest): readonly AdviceNote[] {
  const item = firstElement(evaluation, request);
  const notes = new Map<string, AdviceNote>();
  for (const rendered of evaluation.trace.templates) {
    const { mapping } = evaluation;
    const scope = { request, item, mapping, forEach: mapping?.forEach?.text, rendered };
    for (const rule of [comparisonNotes, singleNotes, printedNotes, truncatedNotes, blockNotes])
      for (const note of rule(scope))
        if (notes.size < MAX_NOTES && !notes.has(note.text)) notes.set(note.text, note);
  }
  return [...notes.values()];
}

interface Scope {
  readonly mapping: Evaluation['mapping'];
  readonly request: HookRequest;
  readonly item: JsonValue | undefined;
  /** The list of the mapping's `forEach`. */
  readonly forEach: string | undefined;
  readonly rendered: Rendered;
}

const sourceOf = ({ rendered }: Scope): string => rendered.source?.template.source ?? '';

/** `(eq path "text")`, either way round. */
const COMPARISON =
  /\((eq|ne)\s{1,9}(?:([A-Za-z_@][\w.@[\]-]{0,200})\s{1,9}("[^"{}]{0,100}"|'[^'{}]{0,100}'|-?\d{1,15}(?:\.\d{1,9})?|true|false)|("[^"{}]{0,100}"|'[^'{}]{0,100}'|-?\d{1,15}(?:\.\d{1,9})?|true|false)\s{1,9}([A-Za-z_@][\w.@[\]-]{0,200}))\s{0,9}\)/g;

function comparisonNotes(scope: Scope): readonly AdviceNote[] {
  const template = sourceOf(scope);
  return [...template.matchAll(COMPARISON)].flatMap((match): readonly AdviceNote[] => {
    const [whole, helper = '', left, literal = match[4] ?? '', , path = left ?? ''] = match;
    const values = valuesOf(path, template.slice(0, match.index), scope);
    const text =
      values === undefined ? undefined : comparisonText({ whole, helper, path, literal }, values, scope);
    return text === undefined ? [] : [{ code: 'compared_kinds', text, names: [path], at: scope.rendered.at }];
  });
}

interface Comparison {
  readonly whole: string;
  readonly helper: string;
  readonly path: string;
  readonly literal: string;
}

/** Elements of a list that are looked at. */
const MAX_ELEMENTS = 50;

/** What a path finds at a place of a template: one value, or that of each element of the list around it; undefined where that is not known. */
function valuesOf(
  path: string,
  before: string,
  { request, item }: Scope,
): readonly (JsonValue | undefined)[] | undefined {
  const read = readerOf(request, item);
  const around = openBlocks(before).filter(({ helper }) => helper === 'each' || helper === 'with');
  const rooted = path.startsWith('@root.') ? path.slice('@root.'.length) : undefined;
  if (around.length === 0 || rooted !== undefined) return [read(rooted ?? path)];
  const [block, ...more] = around;
  const list = block === undefined ? undefined : read(block.path);
  if (more.length > 0 || /^(?:@|\.\.|index$)/.test(path) || list === undefined) return undefined;
  const own = path.replace(/^this\.?/, '');
  const elements = Array.isArray(list) ? (list as readonly JsonValue[]).slice(0, MAX_ELEMENTS) : [list];
  return elements.map((element) => readElement(element)(own));
}

function comparisonText(
  { whole, helper, path, literal }: Comparison,
  values: readonly (JsonValue | undefined)[],
  { request }: Scope,
): string | undefined {
  const wanted: JsonValue = /^["']/.test(literal) ? literal.slice(1, -1) : (JSON.parse(literal) as JsonValue);
  const never = helper === 'eq' ? 'never holds' : 'always holds';
  const found = values.map((value) => meantBy(value, wanted));
  const there = found.findIndex((each) => each !== undefined);
  const value = values[there];
  const meant = found[there];
  if (value !== undefined && meant !== undefined) {
    const write =
      meant === 'lower'
        ? whole.replace(path, () => `(lower ${path})`).replace(literal, (each) => each.toLowerCase())
        : whole.replace(literal, () => meant);
    return `${whole} ${never} here: ${path} is ${kindOf(value)}. Write ${write}`;
  }
  if (values.length !== 1 || values[0] !== undefined || path.startsWith('item')) return undefined;
  const keys = path.replace(/^payload\./, '').split('.');
  const [near, ...more] = createPathFinder(request.payload)(keys);
  if (near === undefined || more.length > 0 || valueAt(request.payload, near.keys) !== wanted)
    return undefined;
  return `${whole} ${never} here: ${path} was not sent, and ${near.keys.join('.')} is ${JSON.stringify(wanted)}. Write ${whole.replace(path, () => near.keys.join('.'))}`;
}

const kindOf = (value: JsonValue): string =>
  typeof value === 'string'
    ? `the text ${shown(value)}`
    : `the ${isNumeric(value) ? 'number' : typeof value} ${plain(value)}`;

/** How the literal is written that is the same as a value of another kind or in other letters; `lower` for both in small letters. */
function meantBy(value: JsonValue | undefined, wanted: JsonValue): string | undefined {
  if (!isScalar(value)) return undefined;
  if (typeof value === 'string' && typeof wanted === 'string')
    return value !== wanted && value.trim().toLowerCase() === wanted.trim().toLowerCase()
      ? 'lower'
      : undefined;
  if (typeof value === typeof wanted || plain(value) !== plain(wanted)) return undefined;
  return typeof value === 'string' ? `"${value}"` : plain(value);
}

/** `{{alerts.0.labels.name}}`: a position that is written, and what is read of the element there. */
const POSITION =
  /\{\{[^{}]{0,200}?([A-Za-z_][\w.]{0,200}?)\.?(?:\.\[0\]|\[0\]|\.0)\.([A-Za-z_][\w.-]{0,200})[^{}]{0,200}\}\}/g;

/** The first of several elements, where nothing in the template reads the others. */
function singleNotes(scope: Scope): readonly AdviceNote[] {
  const template = sourceOf(scope);
  const { forEach } = scope;
  if (scope.rendered.field !== 'messageTemplate' && scope.rendered.field !== 'textTemplate') return [];
  const reads = new Map<string, string[]>();
  for (const [, list = '', field = ''] of template.matchAll(POSITION))
    reads.set(list, [...(reads.get(list) ?? []), field]);
  return [...reads].flatMap(([list, fields]): readonly AdviceNote[] => {
    const value = readerOf(scope.request, scope.item)(list);
    const count = Array.isArray(value) ? value.length : 0;
    // Who counts the elements or goes through them knows that there are more.
    const isRead = new RegExp(
      String.raw`[\s({]${list.replaceAll('.', String.raw`\.`)}(?:[\s})]|\.length|\.?\[?[1-9])`,
    ).test(template);
    if (count < 2 || isRead) return [];
    const [first = ''] = fields;
    const inBlock = [...new Set(fields)].map((field) => `{{${field}}}`).join(' ');
    if (list === forEach) {
      const text = `${list}.0 is the first element in each of the ${count} runs: the element of forEach is item, so write {{item.${first}}}`;
      return [{ code: 'first_element', text, names: [list], at: scope.rendered.at }];
    }
    const isOwn = list.startsWith('item.');
    const each = isOwn ? '' : `for one run per element write forEach: ${list} and {{item.${first}}}; `;
    const text = `${list} is a list of ${count}, and the template reads only its first element: where all are meant, ${each}for one run of all, {{#each ${list}}}${inBlock} {{/each}}`;
    return [{ code: 'first_element', text, names: [list], at: scope.rendered.at }];
  });
}
