/**
 * Transforms whose shape cannot give a result, such as arrow functions whose `{ message: … }` is a block with a label.
 * esbuild prints a file in one form, so a pattern decides.
 */
import type { Printed } from './argument.ts';

/** What is exported begins so; a function that is exported by its name further down is left alone. */
const EXPORTED =
  '(?:export default |export (?:const|let) transform = |(?:module\\.)?exports(?:\\.(?:default|transform))? = |export (?=(?:async )?function transform))';
/** `=> {` and a key of a result as a label, with one expression behind it and nothing else. */
const LABEL = new RegExp(
  `^${EXPORTED}(?:defineTransform\\()?(?:async )?(?:\\(.*\\)|\\w+) => \\{\\n\\s+(message|text|kind|name):\\s+(?:[^;{}]|\\$\\{[^{}]*\\})*;\\n\\}`,
  'm',
);
/** A function with its whole body, which ends at the first brace that is not indented. */
const FUNCTION = new RegExp(
  `^${EXPORTED}(?:defineTransform\\()?(?:async )?(?:function(?: \\w+)?\\(.*\\)|(?:\\(.*\\)|\\w+) =>) \\{\\n((?:(?:[ \\t].*)?\\n)*)\\}`,
  'm',
);
/** A field of the body that is set, as a statement of the function. */
const CHANGE = /^\s+payload(?:\.\w+)+ (?=(?:\?\?|\|\||\+)?= )/m;

/** Why the function that a file exports returns nothing; `code` is the file as it is printed. */
export const returnsNothing = (code: string): Printed | undefined =>
  describeLabel(code) ?? describeChange(code);

function describeLabel(code: string): Printed | undefined {
  const found = LABEL.exec(code);
  const label = found?.[1];
  if (found === null || label === undefined) return undefined;
  return {
    message: `this function returns nothing: "${label}:" is a label in a block, and not a key of an object`,
    hint: 'put ( ) around the object: => ({ message: … })',
    offset: found.index + found[0].indexOf(`${label}:`),
    length: label.length,
  };
}

/** A function that changes the body and returns nothing, as hooks of other tools do. */
function describeChange(code: string): Printed | undefined {
  const found = FUNCTION.exec(code);
  const body = found?.[1] ?? '';
  const change = CHANGE.exec(body);
  if (found === null || change === null || /\breturn [^;]|\bthrow\b/.test(body)) return undefined;
  const field = change[0].trim();
  return {
    message: `this function returns nothing, and what it changes in the body (${field.slice(0, 60)}) does not reach the templates`,
    hint: 'return what is to be sent: return { message: `… ${value} …` }; it stands in place of messageTemplate',
    offset: found.index + found[0].indexOf(body) + change.index + change[0].indexOf('payload'),
    length: field.length,
  };
}
