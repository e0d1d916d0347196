/* What may have been meant by the parts of a condition that failed, each with the rule to write where that is sure. */
import { hasFix, say, todo, write, type Sentence, type StoredFinding } from '../../../base/finding.ts';
import { shorten } from '../../../base/document/document.ts';
import type { ConditionTrace, ConsideredMapping } from '../../../engine/mapping/mapping.ts';
import { namesRead, operationOf } from '../../../engine/mapping/facts.ts';
import { isJsonObject, type JsonValue } from '../../../base/json.ts';
import { decidingLeaves } from './condition-leaves.ts';
import { findDifference, sayDifference } from './difference.ts';
import type { EvaluationAdvice, FoundText } from './evaluation-advice.ts';
import { placed, type EvaluationNote } from './evaluation-note.ts';
import { value } from './shown-values.ts';

/** Parts of one condition that are looked at for further ones that failed. */
const MAX_MORE = 20;

type Advice = EvaluationAdvice | undefined;

/** What is said of a leaf that failed where nothing is surer. */
export function weakerNotes(node: ConditionTrace, advice: Advice): readonly EvaluationNote[] {
  const { found, expected, missing, result } = node;
  const how =
    result === 'false' ? findDifference(found, expected, operationOf(node.rule)?.operator) : undefined;
  const named = missing === undefined ? undefined : advice?.suggestions.get(missing);
  const there = typeof expected === 'string' ? advice?.foundAt.get(expected) : undefined;
  const [first = ''] = named?.names ?? [];
  const hasValue = expected !== undefined && named?.value === shownAs(first, expected);
  const isNamed =
    hasValue || named?.names.some((name) => name.replace(/^payload\./, '') === there?.at) === true;
  // Where the text that was asked for is found, the variable that was meant is known better than by its name.
  const near = there === undefined || isNamed ? named : undefined;
  const texts = [
    near && ({ code: 'instead', text: suggestionText(near, node), paths: near.names } as const),
    how === undefined
      ? undefined
      : ({ code: 'difference', text: say`${sayDifference(how)}${literalText(node, how)}` } as const),
    isNamed || there === undefined ? undefined : elsewhereNote(there, node),
  ];
  return texts.filter((note) => note !== undefined);
}

/** How a path of the request and its value are told. */
export const shownAs = (name: string, value: JsonValue): string => `${name} (${JSON.stringify(value)})`;

function suggestionText(
  { names, text, shown = text, value }: NonNullable<ReturnType<EvaluationAdvice['suggestions']['get']>>,
  node: ConditionTrace,
): Sentence {
  const [name = '', ...others] = names;
  const isIt = others.length === 0 && node.expected !== undefined && value === shownAs(name, node.expected);
  const fix = isIt ? ruleFix(node, { variable: name, literal: node.expected }) : undefined;
  return fix === undefined || !hasFix(fix)
    ? say`the request has ${shown}: ${todo}read ${others.length === 0 ? 'that' : 'one of them'}`
    : say`the request has ${shown}: did you mean that?${fix}`;
}

/** The comparison with what was sent, where it is the same but for how it is written. */
function literalText(node: ConditionTrace, { code, facts }: StoredFinding): Sentence {
  return SAME.has(code) && facts === undefined ? ruleFix(node, { literal: node.found }, ': ') : say``;
}

/** Differences in how one thing is written. */
const SAME: ReadonlySet<string> = new Set(['case', 'white_space', 'punctuation', 'begins_with_more']);

function elsewhereNote({ at, text, isTrue = false }: FoundText, node: ConditionTrace): EvaluationNote {
  const path = rootedAs(node.missing ?? node.rule, at);
  const found = isTrue ? true : text;
  const fix = ruleFix(node, { variable: path, literal: found });
  return {
    code: 'found_elsewhere',
    text: say`${path} is ${value(found)}: did you mean that?${fix}`,
    paths: [at],
  };
}

/** A path of the body, with `payload.` where the condition writes its own so. */
function rootedAs(written: JsonValue, path: string): string {
  const names = typeof written === 'string' ? [written] : namesRead(written);
  const isOfBody = !path.startsWith('headers.');
  return isOfBody && names.some((name) => name.startsWith('payload.')) ? `payload.${path}` : path;
}

/** An equality with another variable or text, as it is to be written behind `before`; nothing of any other rule. */
function ruleFix(
  node: ConditionTrace,
  { variable, literal }: { readonly variable?: string; readonly literal: JsonValue | undefined },
  before = ' ',
): Sentence {
  const { operator = '', operands = [] } = operationOf(node.rule) ?? {};
  const isLiteral = operands.map((operand) => !isJsonObject(operand));
  // Of two variables nobody knows which one was meant.
  if (!operator.startsWith('==') || literal === undefined || !isLiteral.includes(true)) return say``;
  const written = operands.map((operand): JsonValue => {
    if (!isJsonObject(operand)) return literal ?? operand;
    return variable === undefined ? operand : { var: variable };
  });
  return say`${before}${write(shorten(JSON.stringify({ [operator]: written }), 300))}`;
}

/** Other parts of an `and` that failed: what is wrong with one is often wrong with all, and each would fail next. */
export function moreFailing(
  failed: ConditionTrace,
  { parts = [], nodes = [] }: Pick<ConsideredMapping, 'parts' | 'nodes'>,
  advice: Advice,
): readonly EvaluationNote[] {
  const asked = decidingLeaves(nodes).map(({ node }) => node);
  const isMissing = failed.missing !== undefined;
  const seen = new Set([failed.missing]);
  const leaves = new Map([...asked, ...parts].map((node) => [node.at, node]));
  const others = failed.leaf ? [...leaves.values()].filter(({ at, leaf }) => leaf && at !== failed.at) : [];
  return others.slice(0, MAX_MORE).flatMap((node): readonly EvaluationNote[] => {
    const { missing, result } = node;
    if (missing === undefined) return result === 'false' ? alsoFalse(node, advice) : [];
    const sure = advice?.leaves?.get(node.at);
    if (sure !== undefined) return sure.slice(0, 1).map((text) => alsoMissing(node, missing, text));
    const near = seen.has(missing) || !isMissing ? undefined : advice?.suggestions.get(missing);
    if (near === undefined) return [];
    seen.add(missing);
    const remedy = say`the request has ${near.shown ?? near.text}: ${todo}read that`;
    return [{ ...alsoMissing(node, missing, remedy), paths: near.names }];
  });
}

const alsoMissing = ({ at }: ConditionTrace, missing: string, remedy: Sentence): EvaluationNote => ({
  code: 'instead',
  text: say`${missing} is missing, too; ${remedy}`,
  ...placed(at),
});

/** A part that found another value, where it can be said what is wrong with it. */
function alsoFalse(node: ConditionTrace, advice: Advice): readonly EvaluationNote[] {
  const sure = advice?.leaves?.get(node.at) ?? weakerNotes(node, advice).map(({ text }) => text);
  const first = sure.find(hasFix) ?? sure[0];
  if (first === undefined) return [];
  const text = say`${node.expression} does not hold, either: found ${value(node.found)}; ${first}`;
  return [{ code: 'difference', text, ...placed(node.at) }];
}
