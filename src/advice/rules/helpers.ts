/** Helpers of templates: those that there are not, and arguments that one does not take. */
import { shorten, type Place } from '../../document/document.ts';
import { say, type TextEdit } from '../../finding.ts';
import { BLOCK_HELPERS, HELPERS, type HelperProblem, type TemplateCall } from '../../mapping/facts.ts';
import { blankArgument, blankName } from '../blank-names.ts';
import { HELPER_SYNONYMS, meantBlock } from '../dialects/helpers.ts';
import { hint, near, nearName, rule, type Fix } from '../rule.ts';
import { meantTimeZone } from '../vocabulary/time-zones.ts';

const operandsOf = ({ args }: TemplateCall): readonly string[] => args.map(({ text }) => text);

const inBrackets = {
  say: ({ text }: TextEdit) => say`a name with a blank in it is written in brackets: ${text}`,
  fix: (edit: TextEdit) => ({ edit }),
};

/** Helpers, blocks and names with @ that there are not. */
export const UNKNOWN_HELPERS = [
  hint('TEMPLATE_UNKNOWN_HELPER', ['block-of-other-tool', 'certain'], ({ call, isBlock }) =>
    isBlock ? meantBlock(call.name, operandsOf(call)) : undefined,
  ),
  rule({
    on: 'TEMPLATE_UNKNOWN_HELPER',
    name: 'name-with-blank',
    confidence: 'certain',
    find: ({ call: { name, nameAt, args, named }, isBlock }) =>
      isBlock || named.length > 0 || !/\.|^[A-Z]/.test(name) ? undefined : blankName([nameAt, ...args]),
    ...inBrackets,
  }),
  nearName('TEMPLATE_UNKNOWN_HELPER', ({ call: { name }, isBlock }) => {
    if (isBlock) return undefined;
    const to = Object.hasOwn(HELPER_SYNONYMS, name) ? HELPER_SYNONYMS[name] : undefined;
    return to === undefined ? near(name, Object.keys(HELPERS)) : { from: name, to };
  }),
  hint('TEMPLATE_UNKNOWN_HELPER', ['near-block', 'likely'], ({ call: { name, args }, isBlock }) => {
    if (!isBlock) return undefined;
    if (args.length === 0) return `write {{#if ${name}}} or {{#each ${name}}}`;
    const meant = near(name, BLOCK_HELPERS)?.to;
    return meant && `did you mean "{{#${meant} …}}"?`;
  }),
  hint('TEMPLATE_UNKNOWN_HELPER', ['unknown-name', 'guess'], ({ isBlock }) =>
    isBlock
      ? `the block helpers are: ${BLOCK_HELPERS.map((each) => `#${each}`).join(' ')}; write {{#if (eq a b)}} to compare, {{#each list}} to repeat`
      : `the helpers are: ${Object.keys(HELPERS).join(' ')}`,
  ),
  nearName(
    'TEMPLATE_UNKNOWN_DATA',
    ({ name, known }) => (name === '' ? undefined : near(name, known)),
    ({ to }) => say`did you mean @${to}?`,
  ),
  hint(
    'TEMPLATE_UNKNOWN_DATA',
    ['unknown-name', 'guess'],
    ({ known }) => `the names with @ are: ${known.map((name) => `@${name}`).join(' ')}`,
  ),
];

/** Turns two arguments round, each on a line. */
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

/** What to write, by what is wrong; the name of a helper stands first. */
const WRITE: Readonly<
  Record<HelperProblem['wrong'], (problem: HelperProblem & { readonly name: string }) => string | undefined>
> = {
  block: ({ name, call }) =>
    meantBlock(name, operandsOf(call)) ??
    `write {{#if (${name} …)}} to test it, or {{${name} …}} to print it`,
  inline: ({ name }) => `write {{#${name} …}}…{{/${name}}}`,
  count: ({ name }) => `write ${HELPERS[name]?.usage ?? ''}`,
  arity: ({ name }) => `write ${HELPERS[name]?.usage ?? ''}`,
  argument: ({ key = '', known = [] }) => {
    const meant = near(key, known)?.to;
    if (meant !== undefined) return `did you mean "${meant}="?`;
    return known.length === 0 ? 'remove it' : `its arguments are: ${known.map((one) => `${one}=`).join(' ')}`;
  },
  zone: () => 'write a zone such as tz="Europe/Berlin"',
  order: () => undefined,
  'one-value': ({ name, call }) => {
    const [list, word] = operandsOf(call);
    return list !== undefined && (word === 'as' || word === 'in')
      ? `write {{#${name} ${shorten(list)}}}: inside, a path begins at the element, {{title}} or {{this}}`
      : `write {{#${name} name}}…{{/${name}}}`;
  },
};

/** Helpers and blocks that take something else. */
export const HELPER_USAGE = [
  rule({
    on: 'TEMPLATE_HELPER_USAGE',
    name: 'name-with-blank',
    confidence: 'certain',
    find: (facts) => {
      if (facts.wrong === 'one-value') return blankArgument(facts.call.args, 1);
      return facts.wrong === 'arity' ? blankArgument(facts.call.args, facts.max ?? Infinity) : undefined;
    },
    ...inBrackets,
  }),
  rule({
    on: 'TEMPLATE_HELPER_USAGE',
    name: 'value-behind',
    confidence: 'certain',
    find: (facts) => {
      if (facts.wrong !== 'order') return undefined;
      const { name, args } = facts.call;
      const [first, second] = args;
      return first === undefined || second === undefined ? undefined : { name, first, second };
    },
    say: ({ name, first, second }) => say`write {{${name} ${shorten(second.text)} ${shorten(first.text)}}}`,
    fix: ({ first, second }) => swapped(first.at, second.at),
  }),
  nearName(
    'TEMPLATE_HELPER_USAGE',
    (facts) => {
      const zone = facts.wrong === 'zone' ? facts.zone : undefined;
      const to = zone === undefined ? undefined : meantTimeZone(zone);
      return zone === undefined || to === undefined ? undefined : { from: zone, to };
    },
    ({ to }) => say`did you mean tz="${to}"?`,
  ),
  hint('TEMPLATE_HELPER_USAGE', ['other-usage', 'likely'], (facts) =>
    facts.wrong === 'no-helper'
      ? 'write the name of a helper first: {{upper title}}'
      : WRITE[facts.wrong]({ ...facts, name: facts.call.name }),
  ),
];
