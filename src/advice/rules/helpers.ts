/** Helpers of templates: those that there are not, and arguments that one does not take. */
import { didYouMean, shorten } from '../../document/document.ts';
import { spelling } from '../../document/facts.ts';
import { say } from '../../finding.ts';
import { BLOCK_HELPERS, HELPERS, type HelperProblem, type TemplateCall } from '../../mapping/facts.ts';
import { HELPER_SYNONYMS, blockHint } from '../dialects/helpers.ts';
import { hint, near, nearName } from '../rule.ts';

/** The zone that was probably meant: its city, or a near name. */
function nearTimeZone(written: string): string | undefined {
  const zones = Intl.supportedValuesOf('timeZone');
  const city = spelling(written.split('/').at(-1) ?? '');
  const found = zones.find((zone) => spelling(zone.split('/').at(-1) ?? '') === city);
  return found ?? didYouMean(written, zones);
}

const operandsOf = ({ args }: TemplateCall): readonly string[] => args.map(({ text }) => text);

/** Helpers, blocks and names with @ that there are not. */
export const UNKNOWN_HELPERS = [
  hint('TEMPLATE_UNKNOWN_HELPER', ['block-of-other-tool', 'certain'], ({ call, isBlock }) =>
    isBlock ? blockHint(call.name, operandsOf(call)) : undefined,
  ),
  nearName('TEMPLATE_UNKNOWN_HELPER', ({ call: { name }, isBlock }) => {
    if (isBlock) return undefined;
    const to = Object.hasOwn(HELPER_SYNONYMS, name) ? HELPER_SYNONYMS[name] : undefined;
    return to === undefined ? near(name, Object.keys(HELPERS)) : { from: name, to };
  }),
  hint('TEMPLATE_UNKNOWN_HELPER', ['near-block', 'likely'], ({ call: { name, args }, isBlock }) => {
    if (!isBlock) return undefined;
    if (args.length === 0) return `write {{#if ${name}}} or {{#each ${name}}}`;
    const block = near(name, BLOCK_HELPERS)?.to;
    return block && `did you mean "{{#${block} …}}"?`;
  }),
  hint('TEMPLATE_UNKNOWN_HELPER', ['name-with-blank', 'likely'], ({ call: { name, args }, isBlock }) =>
    !isBlock && args.length > 0 && /\.|^[A-Z]/.test(name)
      ? 'write a name with a blank in it in brackets: {{fields.[Due Date]}}'
      : undefined,
  ),
  hint('TEMPLATE_UNKNOWN_HELPER', ['unknown-name', 'guess'], ({ isBlock }) =>
    isBlock
      ? `choose one of the block helpers: ${BLOCK_HELPERS.map((each) => `#${each}`).join(' ')}; write {{#if (eq a b)}} to compare, {{#each list}} to repeat`
      : `choose one of the helpers: ${Object.keys(HELPERS).join(' ')}`,
  ),
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

/** What to write, by what is wrong; the name of a helper stands first. */
const WRITE: Readonly<
  Record<HelperProblem['wrong'], (problem: HelperProblem & { readonly name: string }) => string | undefined>
> = {
  block: ({ name, call }) =>
    blockHint(name, operandsOf(call)) ?? `write {{#if (${name} …)}} to test it, or {{${name} …}} to print it`,
  inline: ({ name }) => `write {{#${name} …}}…{{/${name}}}`,
  count: ({ name }) => `write ${HELPERS[name]?.usage ?? ''}`,
  arity: ({ name }) => `write ${HELPERS[name]?.usage ?? ''}`,
  argument: ({ key = '', known = [] }) => {
    const argument = near(key, known)?.to;
    if (argument !== undefined) return `did you mean "${argument}="?`;
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
      : `write {{#${name} name}}…{{/${name}}}`;
  },
};

/** Helpers and blocks that take something else. */
export const HELPER_USAGE = [
  nearName(
    'TEMPLATE_HELPER_USAGE',
    (facts) => {
      const zone = facts.wrong === 'zone' ? facts.zone : undefined;
      const to = zone === undefined ? undefined : nearTimeZone(zone);
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
