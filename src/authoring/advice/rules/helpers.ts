import { say } from '../../../base/finding.ts';
import { BLOCK_HELPERS, HELPERS } from '../../../engine/mapping/facts.ts';
import { nearName, type Rules } from '../rule.ts';

export const HELPER_RULES: Rules = {
  TEMPLATE_UNKNOWN_HELPER: [
    ({ call: { name }, sign }) => {
      if (sign === '^') return `open it as {{#unless ${name}}}, and close it as {{/unless}}`;
      return sign === '{{'
        ? 'put a backslash before each {{ that is to stay as it is, in place of raw text'
        : undefined;
    },
    ({ call: { name }, isBlock }) => {
      if (isBlock)
        return /^(?:for\w*|range|loop)$/i.test(name)
          ? 'open it as {{#each items}} with the path of the list, read a field of each element as {{name}}, and close it as {{/each}}'
          : undefined;
      if (/^(?:now|\w*date\w*|moment|strftime)$/i.test(name))
        return 'write {{date now "yyyy-MM-dd HH:mm"}} with a format of your own, and the path of another time in place of now';
      return /^(?:[gl]te?|add|sub\w*|plus|minus|mul\w*|div\w*|mod|math|round|ceil|floor)$/i.test(name)
        ? 'compare sizes in match.when, and calculate in a transform: a template does neither'
        : undefined;
    },
    ({ call: { name }, isBlock }, finding) => {
      if (isBlock) return undefined;
      const isElse = /^(?:else_?if|elif|elsif)$/i.test(name);
      return nearName(isElse ? 'elseif' : name, isElse ? ['else if'] : Object.keys(HELPERS), finding);
    },
    ({ call: { name, hasArguments }, isBlock }, finding) => {
      if (!isBlock) return undefined;
      if (!hasArguments)
        return `open it as {{#if ${name}}} and close it as {{/if}}, or {{#each ${name}}} and {{/each}} for a list`;
      const { at: _, ...elsewhere } = finding;
      return nearName(name, BLOCK_HELPERS, elsewhere, (block) => say`did you mean "{{#${block} …}}"?`);
    },
    ({ isBlock }) => {
      const names = isBlock ? BLOCK_HELPERS.map((each) => `#${each}`) : Object.keys(HELPERS);
      return `choose one of the ${isBlock ? 'block helpers' : 'helpers'}: ${names.join(' ')}; a name with a blank in it stands in brackets, {{fields.[Due Date]}}; docs/comparison.md shows what others are called here`;
    },
  ],
  TEMPLATE_UNKNOWN_DATA: [
    ({ name, known }, finding) => nearName(name, known, finding, (to) => say`did you mean @${to}?`),
    ({ known }) => `choose one of the names with @: ${known.map((name) => `@${name}`).join(' ')}`,
  ],
  TEMPLATE_HELPER_USAGE: [
    (facts, finding) =>
      facts.wrong === 'zone' && facts.zone !== undefined
        ? nearName(
            facts.zone,
            Intl.supportedValuesOf('timeZone'),
            finding,
            (to) => say`did you mean tz="${to}"?`,
          )
        : undefined,
    (facts) => {
      if (facts.wrong === 'no-helper') return 'write the name of a helper first: {{upper title}}';
      const { name } = facts.call;
      switch (facts.wrong) {
        case 'block':
          return `test it with {{#if (${name} …)}}, or print it with {{${name} …}}`;
        case 'inline':
          return `open it as {{#${name} …}}, and close it as {{/${name}}}`;
        case 'zone':
          return 'write a zone such as tz="Europe/Berlin"';
        case 'one-value':
          return `give it one value, {{#${name} name}}: inside, a path begins at the element, {{title}} or {{this}}`;
        case 'count':
        case 'arity':
        case 'argument':
        case 'order':
          return `give it what it takes, as in ${HELPERS[name]?.usage ?? ''}`;
      }
    },
  ],
};
