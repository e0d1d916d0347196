/** One rendering under way: the text so far, its cost, and a trace for those who ask. */
import { plural } from '../../../base/finding.ts';
import { HookError } from '../../../base/errors.ts';
import { type JsonValue, isJsonObject } from '../../../base/json.ts';
import { isReserved } from '../scope.ts';
import type {
  RenderTrace,
  Scope,
  TemplatePiece,
  CompiledTemplate,
  PrintedJson,
} from '../compiled-mapping.ts';
import { textOf, type Argument } from './template-helpers.ts';
import type { TemplatePart } from './template-subject.ts';
import type { Place } from '../../../base/document/document.ts';

/** UTF-16 units; a longer prompt, recipient or key is a mistake or an attack. */
const MAX_OUTPUT = 1024 * 1024;

/**
 * Steps of one rendering: it cannot be interrupted, so it must end within some 40 ms. A step is about 10 ns: a
 * character that is read or made is one, the costs below are multiples of it.
 */
const MAX_STEPS = 4 * 1024 * 1024;
/** What a turn of a loop costs. */
export const TURN = 32;
/** What it costs to call a helper or a block, or to print a value. */
export const CALL = 12;
/** What a key costs of an object whose fields are listed. */
export const KEY = 12;

/** What a loop knows of the element that it is at: `@index` and its kin. */
export interface Loop {
  readonly index: number;
  readonly key: string | number;
  readonly first: boolean;
  readonly last: boolean;
}

/** What names are read of: the request, or an element of the block around them. */
export interface TemplateFrame {
  readonly rendering: Rendering;
  /** The payload, or the element. */
  readonly value: Argument;
  /** The frame of the block around it; undefined at the root, whose names are those of the request. */
  readonly up: TemplateFrame | undefined;
  /** Where it stands, e.g. `payload.commits.0`; undefined where that cannot be said, or nobody asks. */
  readonly path: string | undefined;
  /** Names after `as |…|`, of the element and of its key. */
  readonly names: readonly string[];
  readonly loop?: Loop;
}

/** The path of what stands below a frame, from the root of the request. */
export function pathBelow({ path, up }: TemplateFrame, keys: readonly string[]): string | undefined {
  return up === undefined ? pathFromRoot(keys) : joinPath(path, keys);
}

/** A bare name is one of the payload. */
export function pathFromRoot(keys: readonly string[]): string {
  const [root] = keys;
  return (root !== undefined && isReserved(root) ? keys : ['payload', ...keys]).join('.');
}

function valuesAround({ value = null, up }: TemplateFrame): readonly JsonValue[] {
  return up === undefined ? [] : [value, ...valuesAround(up)];
}

export function joinPath(path: string | undefined, keys: readonly string[]): string | undefined {
  return path === undefined ? undefined : [path, ...keys].join('.');
}

/** Takes down what each piece of a text came from; only for people who ask. */
export class PieceRecorder {
  readonly pieces: TemplatePiece[] = [];
  #first: string | undefined;
  #hasFirst = false;

  begin(): void {
    this.#hasFirst = false;
    this.#first = undefined;
  }

  /** A path that is read; undefined where it cannot be said. */
  note(path: string | undefined): void {
    if (!this.#hasFirst) this.#first = path;
    this.#hasFirst = true;
  }

  get first(): string | undefined {
    return this.#first;
  }

  add(text: string, expression?: TemplatePart): void {
    const before = this.pieces.at(-1);
    if (expression !== undefined) {
      const path = this.#first === undefined ? {} : { path: this.#first };
      this.pieces.push({ text, expression: expression.text, at: expression.at, ...path });
    } else if (before !== undefined && before.expression === undefined)
      this.pieces[this.pieces.length - 1] = { text: before.text + text };
    else if (text !== '') this.pieces.push({ text });
  }
}

/** A sender chooses how long lists are, so nested loops or a helper inside a loop can multiply a body. */
export class Rendering {
  readonly scope: Scope;
  readonly trace: RenderTrace | undefined;
  readonly recorder: PieceRecorder | undefined;
  #steps = 0;
  /** What was noted already: loops come by the same place many times. */
  #noted: Set<object> | undefined;

  constructor(scope: Scope, trace: RenderTrace | undefined, recorder?: PieceRecorder) {
    this.scope = scope;
    this.trace = trace;
    this.recorder = recorder;
  }

  /** @throws HookError `too_much_work` beyond the bound of the rendering or of the request */
  spend(steps: number): void {
    this.#steps += steps;
    if (this.#steps > MAX_STEPS) throw tooMuch(`takes more than ${MAX_STEPS} steps`);
    this.scope.work?.spend(steps);
  }

  /** The text of a value; notes where there was none. */
  print(expression: TemplatePart, value: Argument, frame: TemplateFrame): string {
    const { trace } = this;
    const text = textOf(value);
    this.spend(CALL + text.length);
    if (trace !== undefined) {
      if (value === undefined || value === null) this.noteEmpty(expression, frame);
      else notePrinted(trace, this.scope, { expression: expression.text, value });
    }
    this.recorder?.add(text, expression);
    return text;
  }

  noteEmpty({ text: expression, at }: TemplatePart, frame: TemplateFrame): void {
    if (this.trace === undefined || !this.#isNew(at)) return;
    const around = valuesAround(frame);
    this.trace.empty.push({ expression, at, ...(around.length === 0 ? {} : { around }) });
  }

  noteBranch(branch: RenderTrace['branches'][number]): void {
    this.spend(CALL);
    if (this.trace !== undefined && this.#isNew(branch)) this.trace.branches.push(branch);
  }

  #isNew(what: object): boolean {
    this.#noted ??= new Set();
    const isNew = !this.#noted.has(what);
    this.#noted.add(what);
    return isNew;
  }
}

/** @throws HookError `too_much_work` where a rendering is longer than 1 MB */
export function checkOutput(text: string): string {
  if (text.length > MAX_OUTPUT) throw tooMuch(`makes more than ${MAX_OUTPUT} characters`);
  return text;
}

function tooMuch(what: string): HookError {
  return new HookError('too_much_work', `a template ${what} on this body; truncate or limit what it repeats`);
}

export function literalTemplate(source: string, at: Place): CompiledTemplate {
  return {
    source,
    at,
    blocks: [],
    literal: source,
    reads: [],
    render: () => source,
    pieces: () => [{ text: source }],
  };
}

/** Words that Handlebars reads otherwise wherever they stand in a path. */
const WORDS: ReadonlySet<string> = new Set(['this', 'true', 'false', 'null', 'undefined', 'else', 'as']);

/** Keys as a path of a template: a key that is no plain name stands in brackets. */
export function templatePath(keys: readonly string[]): string {
  return keys.map((key) => (/^[A-Za-z_$][\w$-]*$/.test(key) && !WORDS.has(key) ? key : `[${key}]`)).join('.');
}

const MAX_LOOKED_AT = 100;

export interface HelperCall {
  readonly values: Argument[];
  readonly named: Readonly<Record<string, Argument>>;
}

/** Notes what an expression printed; the whole body, or a whole element, is meant to be JSON. */
function notePrinted({ printed }: RenderTrace, { request, item }: Scope, one: PrintedJson): void {
  const { expression, value } = one;
  if (printed === undefined || typeof value !== 'object' || value === null) return;
  if (value === request.payload || value === item) return;
  // What a helper made is what was asked for; the whole body is, too.
  const isPath = /^(?:[\w@./-]|\[[^\]]*\])+$/.test(expression);
  if (!isPath || /^(?:payload|item|headers|query|@root)$/.test(expression)) return;
  if (holdsObjects(value) && !printed.some((each) => each.expression === expression)) printed.push(one);
}

function holdsObjects(value: JsonValue): boolean {
  const looked = Array.isArray(value) ? (value as readonly JsonValue[]).slice(0, MAX_LOOKED_AT) : [value];
  const isEmpty = (each: JsonValue): boolean => isJsonObject(each) && Object.keys(each).length === 0;
  return looked.every((each) => isJsonObject(each)) && !looked.every(isEmpty);
}

export function printedText({ expression, value }: PrintedJson): string {
  const what = Array.isArray(value) ? `a list of ${plural(value.length, 'object')}` : 'an object';
  return `{{${expression}}} is ${what} and is written as JSON`;
}
