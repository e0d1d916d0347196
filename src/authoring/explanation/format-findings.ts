/**
 * Prints one finding on a request: ✗ for what failed, · for what was found, and a hint on lines of its own
 * with the verb, what is to be pasted, and why.
 */
import { printSentence, splitAtFix, type Finding, type Sentence } from '../../base/finding.ts';
import type { Place } from '../../base/document/document.ts';
import { isHint, placeOf } from '../advice/requests.ts';
import { clearLine } from '../../base/telemetry/telemetry.ts';
import { wrap, type Paint } from './format-lines.ts';

export interface LineOptions {
  /** The width of a line; absent where the terminal breaks lines. */
  readonly columns?: number | undefined;
  /** Colours the marks; without it there are no colours. */
  readonly paint?: Paint;
}

/** A longer line is a whole file, so only the change is shown. */
const MAX_LINE = 300;

export function findingLines(finding: Finding, options: LineOptions = {}): readonly string[] {
  const refused = finding.code === 'refusal' ? marked('✗ ', finding.subject?.field ?? '', options) : [];
  return isHint(finding) ? [...refused, ...hintLines(finding, options)] : foundLines(finding, options);
}

function foundLines(finding: Finding, options: LineOptions): readonly string[] {
  const { severity, code, message } = finding;
  const [first = '', ...block] = printSentence(message).split('\n');
  const at = placeOf(finding);
  const place = at === undefined ? '' : `  ${at}`;
  const isOfWork = code === 'rendered_empty' || code === 'repeat';
  return [
    ...marked(
      severity === 'error' ? '✗ ' : isOfWork ? '· ' : '  ',
      `${aboutOf(finding)}${first}${place}`,
      options,
    ),
    ...block.map((each) => `    ${clearLine(each)}`),
  ];
}

function aboutOf({ code, audience, subject: { setting, mapping, field = '', index } = {} }: Finding): string {
  if ((code === 'held' || code === 'not_held') && mapping !== undefined) return `${mapping.id}: `;
  if (code === 'hook_name') return 'hook name ';
  if (code === 'rendered_empty')
    return `${field}${index === undefined ? '' : ` of element ${index}`} has nothing for `;
  if (audience === 'sender' && index !== undefined)
    return `element ${index}${field === '' ? '' : `, ${field}`}: `;
  return setting === undefined ? '' : `${setting}: `;
}

/** Prints what any finding says to do. */
export function hintLines(finding: Finding, options: LineOptions = {}): readonly string[] {
  const { code, message, at: place, subject } = finding;
  const at = placeOf(finding);
  const { verb, line, why } = hintParts(message);
  // The whole line of an empty template is shown already.
  const isRule = line?.startsWith('{') === true && code !== 'rendered_empty';
  const whole = isRule && place !== undefined ? changedLine([{ at: place, text: line }]) : undefined;
  const pasted = whole ?? line;
  const [reason = '', ...block] = why.split('\n');
  const what = [subject?.setting, reason].filter((part) => part !== undefined && part !== '').join(': ');
  const where = at === undefined || what.includes(at) || verb.includes(at) ? '' : ` (${at})`;
  return [
    ...marked('hint: ', `${verb}${where}${pasted === undefined ? '' : ':'}`, options),
    ...(pasted === undefined ? [] : [`    ${clearLine(pasted)}`]),
    ...(what === '' ? [] : wrap('  ', what, options)),
    ...block.map((each) => `    ${clearLine(each)}`),
  ];
}

function marked(mark: string, text: string, { paint, columns }: LineOptions): readonly string[] {
  const [first = '', ...more] = wrap(mark, text, { columns });
  const sign = mark.trimEnd();
  if (paint === undefined || sign === '') return [first, ...more];
  return [`${paint(sign === '✗' ? 'red' : 'green', sign)}${first.slice(sign.length)}`, ...more];
}

function hintParts(sentence: Sentence): {
  readonly verb: string;
  readonly line?: string | undefined;
  readonly why: string;
} {
  const { before, fix, after } = splitAtFix(sentence);
  const found = printSentence(before).replace(/[:;,.]? ?$/, '');
  const rest = printSentence(after).replace(/^[\s,;.:]+/, '');
  if (fix === undefined) {
    const [verb = '', ...block] = found.split('\n');
    return { verb, why: block.length === 0 ? '' : ['', ...block].join('\n') };
  }
  // Everything that follows says what to do.
  if (fix.verb === '') return { verb: printSentence(after), why: found };
  const { verb, where, purpose, line } = fix;
  return {
    verb: `${verb.replace(/:$/, '')}${where === undefined ? '' : ` ${where}`}${purpose === undefined ? '' : `, ${purpose.replace(/,$/, '')}`}`,
    line,
    why: [found, rest].filter((part) => part !== '').join('; '),
  };
}

/** Returns the changed line; undefined where a place has several lines or no end. */
function changedLine(edits: readonly { readonly at: Place; readonly text: string }[]): string | undefined {
  const [{ at: first }] = edits as [(typeof edits)[number]];
  const { source } = first;
  const from = source.text.lastIndexOf('\n', Math.max(0, first.start - 1)) + 1;
  const [line = ''] = source.text.slice(from).split('\n', 1);
  let changed = line;
  for (const { at, text } of edits.toSorted((a, b) => b.at.start - a.at.start)) {
    if (at.end <= at.start || at.end > from + line.length || at.start < from) return undefined;
    changed = `${changed.slice(0, at.start - from)}${text}${changed.slice(at.end - from)}`;
  }
  return changed.length > MAX_LINE ? undefined : changed.trim();
}
