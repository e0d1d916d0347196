import type { MappingFacts } from '../../../engine/mapping/facts.ts';
import { emptyPath } from '../empty-paths.ts';
import { foreignSyntax, SEE_OTHER_TOOLS } from '../other-tools.ts';
import type { Look, Rules } from '../rule.ts';

export const TEMPLATE_LOOKS: readonly Look[] = [
  {
    on: 'template',
    codes: [
      'TEMPLATE_FOREIGN_SYNTAX',
      'FOREIGN_PATH',
      'HEADER_NAME_CASE',
      'ITEM_WITHOUT_FOR_EACH',
      'TOKEN_CARRIER_READ',
    ],
    find: (subject) => {
      // The quotes of the path are what is wrong with it.
      if (subject.findings.some(({ facts }) => facts !== undefined && 'written' in facts)) return [];
      const foreign = foreignSyntax(subject);
      if (foreign.some(({ replaces }) => replaces)) return foreign;
      const empty = subject.reads.flatMap(
        // Where the engine found a mistake, a name may be one of another tool's loop.
        ({ keys, at, withItem }) =>
          emptyPath(keys, at, { of: 'template', withItem: withItem || !subject.isUsable }) ?? [],
      );
      return [...foreign, ...empty];
    },
  },
];

const TOKENS: Readonly<Record<string, string>> = {
  EOF: 'close it, e.g. with {{/if}} or {{/each}}',
  OPEN_ENDBLOCK: 'remove it, or open the block before it',
  INVERSE: 'put it between {{#if …}} and {{/if}}',
  OPEN_INVERSE_CHAIN: 'put it between {{#if …}} and {{/if}}',
  CLOSE_UNESCAPED: 'put a space between }} and a brace of your text',
  NUMBER: 'make the text in a transform, as templates do not calculate',
  CLOSE: 'write {{name}}; literal braces as \\{{',
  CLOSE_SEXPR: 'remove it, as nothing is open there',
  INVALID: 'names with special characters are written in brackets: {{[my name]}}; literal braces as \\{{',
};
/** The text of the token can show another language, and then says more than its name. */
const SIGNS: ReadonlySet<string> = new Set('|=&<>.+*/%');

type LackingTag = Extract<MappingFacts['TEMPLATE_SYNTAX'], { readonly wrong: 'tag' }>;

const COMPLETE: Readonly<Record<LackingTag['lacks'], string>> = {
  braces: 'close it with }}',
  quote: 'close it, or write it without a quote',
  bracket: 'close it with ]',
  parenthesis: 'close it with )',
  blank:
    'write the helper first, a blank, and its values with blanks between them: {{upper name}} for name.toUpperCase(); docs/comparison.md has others',
  'no-comma': 'write a blank in its place',
};

export const TEMPLATES: Rules = {
  TEMPLATE_SYNTAX: [
    (facts, { at }) => {
      // Handlebars reads the last step of a path as a number, where it is one.
      if (facts.wrong === 'stop' && facts.got === 'NUMBER' && at?.source.text[at.start - 1] === '.')
        return `write the position in brackets: .[${facts.found}]`;
      switch (facts.wrong) {
        case 'close':
          return facts.block === 'else'
            ? 'write {{else}} in place of {{#else}}'
            : `close it with {{/${facts.block}}}`;
        case 'tag':
          return COMPLETE[facts.lacks];
        case 'stop':
          return SIGNS.has(facts.found) ? SEE_OTHER_TOOLS : TOKENS[facts.got];
      }
    },
  ],
};
