/** Helpers of templates: those that there are not, and arguments that one does not take. */
import { shorten } from '../../../base/document/document.ts';
import { say } from '../../../base/finding.ts';
import {
  BLOCK_HELPERS,
  HELPERS,
  type HelperProblem,
  type TemplateCall,
} from '../../../engine/mapping/facts.ts';
import { hint, near, nearName } from '../rule.ts';

const operandsOf = ({ args }: TemplateCall): readonly string[] => args.map(({ text }) => text);

/** Helpers, blocks and names with @ that there are not. */
export const UNKNOWN_HELPERS = [
  hint('TEMPLATE_UNKNOWN_HELPER', ['block-of-mustache', 'certain'], ({ call: { name }, sign }) => {
    if (sign === '^') return `open it as {{#unless ${name}}}, and close it as {{/unless}}`;
    return sign === '{{'
      ? 'put a backslash before each {{ that is to stay as it is, in place of raw text'
      : undefined;
  }),
  nearName('TEMPLATE_UNKNOWN_HELPER', ({ call: { name }, isBlock }) => {
    if (isBlock) return undefined;
    return /^(?:else_?if|elif|elsif)$/i.test(name)
      ? { from: name, to: 'else if' }
      : near(name, Object.keys(HELPERS));
  }),
  hint('TEMPLATE_UNKNOWN_HELPER', ['near-block', 'likely'], ({ call: { name, args }, isBlock }) => {
    if (!isBlock) return undefined;
    if (args.length === 0)
      return `open it as {{#if ${name}}} and close it as {{/if}}, or {{#each ${name}}} and {{/each}} for a list`;
    const block = near(name, BLOCK_HELPERS)?.to;
    return block && `did you mean "{{#${block} …}}"?`;
  }),
  hint('TEMPLATE_UNKNOWN_HELPER', ['unknown-name', 'guess'], ({ isBlock }) => {
    const names = isBlock ? BLOCK_HELPERS.map((each) => `#${each}`) : Object.keys(HELPERS);
    return `choose one of the ${isBlock ? 'block helpers' : 'helpers'}: ${names.join(' ')}; a name with a blank in it stands in brackets, {{fields.[Due Date]}}; docs/other-tools.md shows what others are called here`;
  }),
  nearName(
    'TEMPLATE_UNKNOWN_DATA',
    ({ name, known }) => (name === '' ? undefined : near(name, known)),
    ({ to }) => say`did you mean @${to}?`,
  ),
  hint(
    'TEMPLATE_UNKNOWN_DATA',
    ['unknown-name', 'guess'],
    ({ known }) => `choose one of the names with @: ${known.map((name) => `@${name}`).join(' ')}`,
  ),
];

/** How a helper is used, with the values that were written for it, as far as it takes them. */
function usageOf(name: string, values: readonly string[]): string {
  const usage = HELPERS[name]?.usage ?? '';
  const [, own = ''] = /^\{\{(\w[^{}]*)\}\}$/.exec(usage) ?? [];
  if (own === '' || values.length > (HELPERS[name]?.max ?? 0)) return `give it what it takes, as in ${usage}`;
  const words = own.match(/"[^"]*"|\S+/g)?.slice(1) ?? [];
  const whole = words.map((word, at) => shorten(values[at] ?? word));
  return `write {{${[name, ...whole].join(' ')}}}`;
}

/** What to write, by what is wrong; the name of a helper stands first. */
const WRITE: Readonly<
  Record<HelperProblem['wrong'], (problem: HelperProblem & { readonly name: string }) => string | undefined>
> = {
  block: ({ name }) => `test it with {{#if (${name} …)}}, or print it with {{${name} …}}`,
  inline: ({ name }) => `open it as {{#${name} …}}, and close it as {{/${name}}}`,
  count: ({ name, call }) => usageOf(name, operandsOf(call).slice(0, 1)),
  arity: ({ name, call }) => usageOf(name, operandsOf(call)),
  argument: ({ name, call: { args, named }, key = '', known = [] }) => {
    const argument = near(key, known)?.to;
    if (argument !== undefined) return `did you mean "${argument}="?`;
    const values = [...args, ...named.map(({ value }) => value)].map(({ text }) => shorten(text));
    if (known.length === 0 && values.length <= (HELPERS[name]?.max ?? 0))
      return `write {{${[name, ...values].join(' ')}}}`;
    return known.length === 0
      ? 'remove it'
      : `choose one of its arguments: ${known.map((one) => `${one}=`).join(' ')}`;
  },
  zone: () => 'write a zone such as tz="Europe/Berlin"',
  order: ({ name, call }) =>
    `write {{${[name, ...operandsOf(call).toReversed()].map((each) => shorten(each)).join(' ')}}}`,
  'one-value': ({ name, call }) => {
    const [list, word] = operandsOf(call);
    return list !== undefined && (word === 'as' || word === 'in')
      ? `write {{#${name} ${shorten(list)}}}: inside, a path begins at the element, {{title}} or {{this}}`
      : `give it one value: {{#${name} name}}`;
  },
};

/** Helpers and blocks that take something else. */
export const HELPER_USAGE = [
  nearName(
    'TEMPLATE_HELPER_USAGE',
    (facts) => {
      const zone = facts.wrong === 'zone' ? facts.zone : undefined;
      return zone === undefined ? undefined : near(zone, Intl.supportedValuesOf('timeZone'));
    },
    ({ to }) => say`did you mean tz="${to}"?`,
  ),
  hint('TEMPLATE_HELPER_USAGE', ['other-usage', 'likely'], (facts) =>
    facts.wrong === 'no-helper'
      ? 'write the name of a helper first: {{upper title}}'
      : WRITE[facts.wrong]({ ...facts, name: facts.call.name }),
  ),
];
