import { isBoxedPrimitive } from 'node:util/types';
import Handlebars from 'handlebars';
import type { Place } from '../../document/document.ts';
import { exactNumber, valueAt, type JsonObject, type JsonValue } from '../../json.ts';
import { textOf } from './json-text.ts';
import type { RenderTrace, Scope } from '../compiled-mapping.ts';
import { readRoot } from '../scope.ts';
import { CALL, checkOutput, KEY, RenderBudget } from './template-budget.ts';
import { noteArguments, noteNo, notePrinted } from './unfit.ts';
import { HELPERS, holds, type Argument, type Helper } from './template-helpers.ts';
import { EXACT, OUT, ROOT, THIS, type PreparedTree } from './template-tree.ts';
import type { Located } from './template-checks.ts';
import type { PieceRecorder } from './template-pieces.ts';

/** One rendering under way: what the helpers called by Handlebars need besides their arguments. */
export interface Rendering {
  readonly scope: Scope;
  readonly budget: RenderBudget;
  readonly expressions: readonly Located[];
  readonly blocks: readonly Place[];
  readonly withoutElse: ReadonlySet<number>;
  readonly trace: RenderTrace | undefined;
  /** What was noted already: loops come by the same place many times. */
  readonly noted: Set<string>;
  /** Where somebody asks what each piece came from. */
  readonly recorder?: PieceRecorder;
}

export function newRendering(
  scope: Scope,
  { expressions, blocks, withoutElse }: PreparedTree,
  trace: RenderTrace | undefined,
): Rendering {
  const budget = new RenderBudget(scope.work);
  return { scope, expressions, blocks, withoutElse, trace, budget, noted: new Set() };
}

/** What Handlebars hands to a helper as its last argument. */
interface CallOptions {
  readonly hash: Readonly<Record<string, Argument>>;
  readonly data: { readonly rendering: Rendering; readonly root: unknown };
  fn(context: unknown, options?: object): string;
  inverse(context: unknown, options?: object): string;
}

export type RuntimeHelper = (this: unknown, ...args: unknown[]) => unknown;

/** All helpers in the form Handlebars calls them. */
export function makeHelpers(): Readonly<Record<string, RuntimeHelper>> {
  const values = Object.entries(HELPERS).map(([name, helper]) => [name, valueHelper(name, helper)] as const);
  return {
    ...Object.fromEntries(values),
    ...BLOCKS,
    [OUT]: out,
    [ROOT]: readFromRoot,
    [EXACT]: (text) => exactNumber(String(text)),
    [THIS]: contextAsValue,
  };
}

/** Prints a value, and notes where there was none. */
function out(...[value, index, options]: unknown[]): string {
  const { rendering } = (options as CallOptions).data;
  const expression = rendering.expressions[index as number];
  const { trace } = rendering;
  if (value === undefined || value === null) {
    if (trace !== undefined && expression !== undefined && isNew(rendering, `empty ${String(index)}`)) {
      trace.empty.push({ expression: expression.text, at: expression.at });
    }
    return marked(rendering, index, '');
  }
  const text = textOf(value as JsonValue);
  rendering.budget.spend(CALL + text.length);
  if (trace !== undefined && expression !== undefined) {
    notePrinted(trace, rendering.scope, { expression: expression.text, value: value as JsonValue });
  }
  return marked(rendering, index, text);
}

function marked({ recorder, expressions }: Rendering, index: unknown, text: string): string {
  const expression = expressions[index as number];
  return recorder === undefined || expression === undefined ? text : recorder.mark(expression, text);
}

/** Runs the content of a block whose paths start at an element. */
function within(
  rendering: Rendering,
  element: { index: unknown; key?: string | number },
  run: () => string,
): string {
  const { recorder, blocks } = rendering;
  const at = blocks[element.index as number];
  if (recorder === undefined || at === undefined) return run();
  recorder.enter(at.source.text.slice(at.start, at.end), element.key);
  const text = run();
  recorder.leave();
  return text;
}

/** `@root.a.b`: Handlebars would stop at a 0 or an empty text on the way and print that. */
function readFromRoot(...all: unknown[]): unknown {
  const [first = '', ...rest] = all.slice(0, -1) as string[];
  return valueAt(readRoot((all.at(-1) as CallOptions).data.rendering.scope, first), rest);
}

/** `this` as a value: the payload at the root, and what `asContext` boxed. */
function contextAsValue(...[value, options]: unknown[]): unknown {
  const { root, rendering } = (options as CallOptions).data;
  if (value === root) return rendering.scope.request.payload;
  return isBoxedPrimitive(value) ? value.valueOf() : value;
}

/**
 * A block's context. Handlebars compares contexts with `!=`: a text and an object would be converted, which ends in
 * a TypeError where the payload has a `toString` of its own. Between objects it compares identity.
 */
function asContext(value: Argument): unknown {
  return value === null || value === undefined ? value : Object(value);
}

function valueHelper(name: string, helper: Helper): RuntimeHelper {
  return (...all) => {
    const { hash, data } = all.at(-1) as CallOptions;
    const { budget } = data.rendering;
    const args = all.slice(0, -1) as Argument[];
    const [first] = args;
    if (data.rendering.trace !== undefined) noteArguments(data.rendering.trace, name, args);
    if (helper.text === true && typeof first === 'object' && first !== null) args[0] = textOf(first);
    budget.spend(args.reduce<number>((sum, arg) => sum + sizeOf(arg), helper.cost ?? CALL));
    const result = helper.run(args, hash);
    budget.spend(helper.counts === true ? (result as number) * KEY : sizeOf(result));
    return result;
  };
}

/** What reading a value costs. */
function sizeOf(value: Argument): number {
  if (typeof value === 'string' || Array.isArray(value)) return value.length;
  return 1;
}

/** The keys of an object; listing them is what costs. */
function keysOf(value: object, budget: RenderBudget): readonly string[] {
  const keys = Object.keys(value);
  budget.spend(keys.length * KEY);
  return keys;
}

function isNew({ noted }: Rendering, what: string): boolean {
  if (noted.has(what)) return false;
  noted.add(what);
  return true;
}

function noteBranch(rendering: Rendering, index: unknown, taken: 'main' | 'inverse'): void {
  const { trace, blocks, budget } = rendering;
  budget.spend(CALL);
  const at = blocks[index as number];
  if (at !== undefined) rendering.recorder?.ask(at.source.text.slice(at.start, at.end));
  if (trace === undefined || at === undefined || !isNew(rendering, `${taken} ${String(index)}`)) return;
  trace.branches.push({ at, taken });
}

const BLOCKS: Readonly<Record<string, RuntimeHelper>> = {
  if(...[index, value, options]) {
    return branch(this, { index, value, options: options as CallOptions, taken: holdsFor(value, options) });
  },
  unless(...[index, value, options]) {
    return branch(this, { index, value, options: options as CallOptions, taken: !holdsFor(value, options) });
  },
  with(...[index, value, options]) {
    const { fn, inverse, data } = options as CallOptions;
    const taken = holds(value as Argument, true);
    noteBranch(data.rendering, index, taken ? 'main' : 'inverse');
    if (!taken) return inverse(this);
    return within(data.rendering, { index }, () =>
      fn(asContext(value as Argument), { data, blockParams: [value] }),
    );
  },
  each(...[index, value, options]) {
    const { data, inverse } = options as CallOptions;
    const text = loop(value as Argument, index, options as CallOptions);
    if (value === undefined) noteNoList(data.rendering, index);
    noteBranch(data.rendering, index, text === undefined ? 'inverse' : 'main');
    return text ?? inverse(this);
  },
};

/** A list that was not sent prints nothing, where nothing is written for that. */
function noteNoList(rendering: Rendering, index: unknown): void {
  const { trace, blocks, withoutElse } = rendering;
  const at = blocks[index as number];
  if (trace === undefined || at === undefined || !withoutElse.has(index as number)) return;
  if (!isNew(rendering, `empty block ${String(index)}`)) return;
  trace.empty.push({ expression: textOfBlock(at), at });
}

/** `#each items`: what stands between the braces. */
const textOfBlock = ({ source, start, end }: Place): string =>
  source.text.slice(start, end).replaceAll(/^\{\{~?\s*|\s*~?\}\}$/g, '');

function holdsFor(value: unknown, options: unknown): boolean {
  return holds(value as Argument, (options as CallOptions).hash['includeZero'] === true);
}

function branch(
  context: unknown,
  { index, value, options, taken }: { index: unknown; value: unknown; options: CallOptions; taken: boolean },
): string {
  noteBranch(options.data.rendering, index, taken ? 'main' : 'inverse');
  const { trace, blocks } = options.data.rendering;
  const at = blocks[index as number];
  if (typeof value === 'string' && trace !== undefined && at !== undefined)
    noteNo(trace, at.source.text.slice(at.start, at.end), value);
  return taken ? options.fn(context) : options.inverse(context);
}

/** The block once for each element of a list or member of an object; undefined where there is none. */
function loop(value: Argument, block: unknown, { fn, data }: CallOptions): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const list = Array.isArray(value) ? (value as readonly JsonValue[]) : undefined;
  const keys = list === undefined ? keysOf(value, data.rendering.budget) : undefined;
  const count = list?.length ?? keys?.length ?? 0;
  if (count === 0) return undefined;
  const frame = Handlebars.createFrame(data) as Record<string, unknown>;
  let text = '';
  for (let index = 0; index < count; index += 1) {
    data.rendering.budget.turn();
    const key = keys?.[index] ?? index;
    const element = list === undefined ? (value as JsonObject)[String(key)] : list[index];
    frame['key'] = key;
    frame['index'] = index;
    frame['first'] = index === 0;
    frame['last'] = index === count - 1;
    text = checkOutput(
      text +
        within(data.rendering, { index: block, key }, () =>
          fn(asContext(element), { data: frame, blockParams: [element, key] }),
        ),
    );
  }
  return text;
}
