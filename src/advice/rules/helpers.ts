/** Helpers of templates: those that there are not, and arguments that one does not take. */
import { didYouMean, meantTimeZone, replaceWithin, shorten, type Place } from '../../document/document.ts';
import { quoted, say, type Finding } from '../../finding.ts';
import { BLOCK_HELPERS, HELPERS, type HelperProblem, type TemplateCall } from '../../mapping/facts.ts';
import { blankArgument, blankName } from '../blank-names.ts';
import { HELPER_SYNONYMS, meantBlock, meantCall } from '../dialects/helpers.ts';
import { rule, type Fix } from '../rule.ts';

const operandsOf = ({ args }: TemplateCall): readonly string[] => args.map(({ text }) => text);

/** The edit that writes a call anew, from the name of its helper to its last argument, on one line. */
function wholeCall({ nameAt, args, named }: TemplateCall, text: string): Fix | undefined {
  const { source, start } = nameAt.at;
  const { end } = (named.at(-1)?.value ?? args.at(-1) ?? nameAt).at;
  const written = source.text.slice(start, end);
  // A quote may end the text of the file that the template stands in.
  const isRisky = /[\n\\]/.test(written) || (text.includes('"') && !written.includes('"'));
  return end < start || isRisky ? undefined : { edit: { at: { source, start, end }, text } };
}

/** Another word at the place of a finding. */
function renamed(
  { from, to }: { readonly from: string; readonly to: string },
  { at }: Finding,
): Fix | undefined {
  const edit = at && replaceWithin(at, from, to);
  return edit && { edit };
}

const blank = {
  hint: ({ text }: { readonly text: string }) => `a name with a blank in it is written in brackets: ${text}`,
  fix: (edit: NonNullable<ReturnType<typeof blankName>>) => ({ edit }),
};

/** Helpers, blocks and names with @ that there are not. */
export const UNKNOWN_HELPERS = [
  rule({
    on: 'TEMPLATE_UNKNOWN_HELPER',
    name: 'block-of-other-tool',
    confidence: 'certain',
    find: ({ call, isBlock }) => (isBlock ? meantBlock(call.name, operandsOf(call)) : undefined),
    say: quoted,
  }),
  rule({
    on: 'TEMPLATE_UNKNOWN_HELPER',
    name: 'name-with-blank',
    confidence: 'certain',
    find: ({ call: { name, nameAt, args, named }, isBlock }) =>
      isBlock || named.length > 0 || !/\.|^[A-Z]/.test(name) ? undefined : blankName([nameAt, ...args]),
    say: (edit) => quoted(blank.hint(edit)),
    fix: blank.fix,
  }),
  rule({
    on: 'TEMPLATE_UNKNOWN_HELPER',
    name: 'helper-of-other-tool',
    confidence: 'certain',
    find: ({ call, isBlock }) => {
      const isKnown = !isBlock && Object.hasOwn(HELPER_SYNONYMS, call.name);
      const named = Object.fromEntries(call.named.map(({ key, value }) => [key, value.text]));
      const text = isKnown ? meantCall(call.name, operandsOf(call), named) : undefined;
      return text === undefined ? undefined : { call, text };
    },
    say: ({ call, text }) => say`write ${call.isInner ? `(${text})` : `{{${text}}}`}`,
    fix: ({ call, text }) => wholeCall(call, text),
  }),
  rule({
    on: 'TEMPLATE_UNKNOWN_HELPER',
    name: 'near-name',
    confidence: 'likely',
    find: ({ call: { name }, isBlock }) => {
      const to = isBlock ? undefined : (HELPER_SYNONYMS[name] ?? didYouMean(name, Object.keys(HELPERS)));
      return to === undefined ? undefined : { from: name, to };
    },
    say: ({ to }) => say`did you mean "${to}"?`,
    fix: renamed,
  }),
  rule({
    on: 'TEMPLATE_UNKNOWN_HELPER',
    name: 'near-block',
    confidence: 'likely',
    find: ({ call: { name, args }, isBlock }) =>
      isBlock && args.length > 0 ? didYouMean(name, BLOCK_HELPERS) : undefined,
    say: (near) => say`did you mean "{{#${near} …}}"?`,
  }),
  rule({
    on: 'TEMPLATE_UNKNOWN_HELPER',
    name: 'section',
    confidence: 'likely',
    find: ({ call: { name, args }, isBlock }) => (isBlock && args.length === 0 ? name : undefined),
    say: (name) => say`write {{#if ${name}}} or {{#each ${name}}}`,
  }),
  rule({
    on: 'TEMPLATE_UNKNOWN_HELPER',
    name: 'unknown-name',
    confidence: 'guess',
    find: ({ isBlock }) =>
      isBlock
        ? `the block helpers are: ${BLOCK_HELPERS.map((each) => `#${each}`).join(' ')}; write {{#if (eq a b)}} to compare, {{#each list}} to repeat`
        : `the helpers are: ${Object.keys(HELPERS).join(' ')}`,
    say: quoted,
  }),
  rule({
    on: 'TEMPLATE_UNKNOWN_DATA',
    name: 'near-name',
    confidence: 'likely',
    find: ({ name, known }) => {
      const to = name === '' ? undefined : didYouMean(name, known);
      return to === undefined ? undefined : { from: name, to };
    },
    say: ({ to }) => say`did you mean @${to}?`,
    fix: renamed,
  }),
  rule({
    on: 'TEMPLATE_UNKNOWN_DATA',
    name: 'unknown-name',
    confidence: 'guess',
    find: ({ known }) => known.map((name) => `@${name}`).join(' '),
    say: (known) => say`the names with @ are: ${known}`,
  }),
];

type Wrong = HelperProblem['wrong'];
type Problem<Kind extends Wrong> = HelperProblem & { readonly wrong: Kind };

/** Declares what to do about one way to use a helper wrongly. */
function usage<Match>(
  wrong: Wrong,
  name: string,
  {
    confidence = 'certain',
    find,
    hint,
    fix,
  }: {
    readonly confidence?: Finding['confidence'];
    readonly find: (problem: Problem<Wrong>) => Match | undefined;
    readonly hint: (match: Match) => string;
    readonly fix?: (match: Match, finding: Finding) => Fix | undefined;
  },
) {
  return rule({
    on: 'TEMPLATE_HELPER_USAGE',
    name,
    confidence,
    find: (facts) => (facts.wrong === wrong ? find(facts as Problem<Wrong>) : undefined),
    say: (match: Match) => quoted(hint(match)),
    ...(fix === undefined ? {} : { fix }),
  });
}

/** The edit that turns two arguments round, each on a line. */
function swapped(first: Place, second: Place): Fix | undefined {
  const { source } = first;
  const { text } = source;
  if (second.start < first.end) return undefined;
  const [a, between, b] = [
    text.slice(first.start, first.end),
    text.slice(first.end, second.start),
    text.slice(second.start, second.end),
  ];
  if (/\n/.test(a + b)) return undefined;
  return { edit: { at: { source, start: first.start, end: second.end }, text: b + between + a } };
}

/** Helpers and blocks that take something else. */
export const HELPER_USAGE = [
  usage('block', 'block-of-other-tool', {
    find: ({ call }) => meantBlock(call.name, operandsOf(call)),
    hint: (hint) => hint,
  }),
  usage('block', 'value-as-block', {
    confidence: 'likely',
    find: ({ call: { name } }) => name,
    hint: (name) => `write {{#if (${name} …)}} to test it, or {{${name} …}} to print it`,
  }),
  usage('inline', 'block-as-value', {
    find: ({ call: { name } }) => name,
    hint: (name) => `write {{#${name} …}}…{{/${name}}}`,
  }),
  usage('count', 'no-number', {
    find: ({ call: { name } }) => HELPERS[name],
    hint: (helper) => `write ${helper.usage}`,
  }),
  usage('argument', 'near-name', {
    confidence: 'likely',
    find: ({ key = '', known = [] }) => didYouMean(key, known),
    hint: (near) => `did you mean "${near}="?`,
  }),
  usage('argument', 'unknown-name', {
    confidence: 'guess',
    find: ({ known = [] }) => known,
    hint: (known) =>
      known.length === 0 ? 'remove it' : `its arguments are: ${known.map((one) => `${one}=`).join(' ')}`,
  }),
  usage('zone', 'near-zone', {
    confidence: 'likely',
    find: ({ zone = '' }) => {
      const to = meantTimeZone(zone);
      return to === undefined ? undefined : { from: zone, to };
    },
    hint: ({ to }) => `did you mean tz="${to}"?`,
    fix: renamed,
  }),
  usage('zone', 'unknown-zone', {
    confidence: 'guess',
    find: () => true,
    hint: () => 'write a zone such as tz="Europe/Berlin"',
  }),
  usage('order', 'value-behind', {
    find: ({ call }) => {
      const [first, second] = call.args;
      return first === undefined || second === undefined ? undefined : { name: call.name, first, second };
    },
    hint: ({ name, first, second }) => `write {{${name} ${shorten(second.text)} ${shorten(first.text)}}}`,
    fix: ({ first, second }) => swapped(first.at, second.at),
  }),
  usage('one-value', 'name-with-blank', { find: ({ call }) => blankArgument(call.args, 1), ...blank }),
  usage('one-value', 'as-in-other-tools', {
    find: ({ call: { name, args } }) => {
      const [list, word] = operandsOf({ args } as TemplateCall);
      return list !== undefined && (word === 'as' || word === 'in') ? { name, list } : undefined;
    },
    hint: ({ name, list }) =>
      `write {{#${name} ${shorten(list)}}}: inside, a path begins at the element, {{title}} or {{this}}`,
  }),
  usage('one-value', 'no-value', {
    confidence: 'likely',
    find: ({ call: { name } }) => name,
    hint: (name) => `write {{#${name} name}}…{{/${name}}}`,
  }),
  usage('arity', 'name-with-blank', {
    find: ({ call, max = Infinity }) => blankArgument(call.args, max),
    ...blank,
  }),
  usage('arity', 'number-of-arguments', {
    confidence: 'likely',
    find: ({ call: { name } }) => HELPERS[name],
    hint: (helper) => `write ${helper.usage}`,
  }),
  rule({
    on: 'TEMPLATE_HELPER_USAGE',
    name: 'arguments-of-a-value',
    confidence: 'likely',
    find: ({ wrong }) => (wrong === 'no-helper' ? wrong : undefined),
    say: () => say`write the name of a helper first: {{upper title}}`,
  }),
];
