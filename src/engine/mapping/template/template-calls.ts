/** What helpers and blocks do while a template is rendered. */
import { sizeOf } from '../work-budget.ts';
import type { Place } from '../../../base/document/document.ts';
import type { JsonObject, JsonValue } from '../../../base/json.ts';
import { listOf } from '../scope.ts';
import { textOf, type Argument, type BLOCK_HELPERS, type Helper, holds } from './template-helpers.ts';
import {
  type HelperCall,
  CALL,
  checkOutput,
  type TemplateFrame,
  joinPath,
  KEY,
  TURN,
} from './template-rendering.ts';

export type EvaluateArgument = (frame: TemplateFrame) => Argument;
/** Gives the text that a part of a template makes. */
export type Write = (frame: TemplateFrame) => string;

export function callHelper(
  helper: Helper,
  { values, named }: HelperCall,
  { rendering }: TemplateFrame,
): Argument {
  if (helper.list === true) values[0] = listOf(rendering.scope, values[0]) ?? values[0];
  const [first] = values;
  if (helper.text === true && typeof first === 'object' && first !== null) values[0] = textOf(first);
  rendering.spend(values.reduce<number>((sum, value) => sum + sizeOf(value), helper.cost ?? CALL));
  const result = helper.run(values, named);
  rendering.spend(helper.counts === true ? (result as number) * KEY : sizeOf(result));
  return result;
}

export interface Block {
  readonly value: EvaluateArgument;
  readonly opening: string;
  readonly at: Place;
  readonly main: Write;
  readonly inverse: Write;
  readonly hasInverse: boolean;
  /** Names after `as |…|`. */
  readonly names: readonly string[];
  /** True for a block over fields, which reads the name of each. */
  readonly readsKey: boolean;
  readonly includeZero: EvaluateArgument | undefined;
}

export const RUN_BLOCK: Readonly<Record<(typeof BLOCK_HELPERS)[number], (block: Block) => Write>> = {
  if: (block) => runIf(block, true),
  unless: (block) => runIf(block, false),
  with: (block) => {
    const take = takerOf(block);
    return (frame) => {
      const value = evaluate(block, frame);
      const { rendering } = frame;
      const path = rendering.recorder?.first;
      const side = take(frame, holds(value, true));
      const { names } = block;
      return side(side === block.main ? { rendering, value, up: frame, path, names } : frame);
    };
  },
  each: (block) => {
    const take = takerOf(block);
    const written = { text: insideBraces(block.opening), at: block.at };
    return (frame) => {
      const value = evaluate(block, frame);
      const text = loop(block, frame, value);
      // A list that was not sent prints nothing, where nothing is written for that.
      if (value === undefined && !block.hasInverse) frame.rendering.noteEmpty(written, frame);
      const side = take(frame, text !== undefined);
      return text ?? side(frame);
    };
  },
};

const insideBraces = (opening: string): string => opening.replaceAll(/^\{\{~?\s*|\s*~?\}\}$/g, '');

function evaluate({ value }: Block, frame: TemplateFrame): Argument {
  frame.rendering.recorder?.begin();
  return value(frame);
}

function runIf(block: Block, wanted: boolean): Write {
  const take = takerOf(block);
  return (frame) => {
    const value = evaluate(block, frame);
    const isHeld = holds(value, block.includeZero?.(frame) === true);
    return take(frame, isHeld === wanted)(frame);
  };
}

/** Takes a side of a block, and notes that once. */
function takerOf({ at, main, inverse }: Block): (frame: TemplateFrame, isMain: boolean) => Write {
  const taken = { main: { at, taken: 'main' }, inverse: { at, taken: 'inverse' } } as const;
  return ({ rendering }, isMain) => {
    rendering.noteBranch(isMain ? taken.main : taken.inverse);
    return isMain ? main : inverse;
  };
}

/** The block once for each element of a list or member of an object; undefined where there is none. */
function loop({ main, names, readsKey }: Block, frame: TemplateFrame, found: Argument): string | undefined {
  const { rendering } = frame;
  const value = (readsKey ? undefined : listOf(rendering.scope, found)) ?? found;
  if (typeof value !== 'object' || value === null) return undefined;
  const above = rendering.recorder?.first;
  const isList = Array.isArray(value);
  const keys = isList ? undefined : Object.keys(value);
  rendering.spend((keys?.length ?? 0) * KEY);
  const count = keys?.length ?? (value as readonly JsonValue[]).length;
  let text = '';
  for (let index = 0; index < count; index += 1) {
    rendering.spend(TURN);
    const key = keys?.[index] ?? index;
    // A lone element stands where its list is read.
    const path = rendering.recorder && joinPath(above, isList && value !== found ? [] : [String(key)]);
    const around = { index, key, first: index === 0, last: index === count - 1 };
    const element = (value as JsonObject)[key];
    text = checkOutput(text + main({ rendering, value: element, up: frame, path, names, loop: around }));
  }
  return count === 0 ? undefined : text;
}
