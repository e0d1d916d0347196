/** Operators of other languages that have no name here: what they ask for, in operators that there are. */
const MAX_SHOWN = 160;

const shown = (value: unknown): string => JSON.stringify(value).slice(0, MAX_SHOWN);

/** The hint for an operator that is not known; undefined where it says nothing. */
export function foreignOperatorHint(operator: string, operands: readonly unknown[]): string | undefined {
  const name = operator.toLowerCase().replaceAll(/[\s_-]/g, '');
  const [value = { var: 'name' }, wanted] = operands;
  const text = typeof wanted === 'string' ? wanted : 'text';
  switch (name) {
    case 'startswith':
    case 'beginswith':
    case 'hasprefix':
      return `write ${shown({ '===': [{ substr: [value, 0, text.length] }, text] })}`;
    case 'endswith':
    case 'hassuffix':
      return `write ${shown({ '===': [{ substr: [value, -text.length] }, text] })}`;
    case 'notin':
    case 'nin':
      return `write ${shown({ '!': { in: [...operands] } })}`;
    case 'notcontains':
    case 'doesnotcontain':
      return `write ${shown({ '!': { in: [wanted ?? 'text', value] } })}`;
    case 'exists':
    case 'isset':
    case 'defined':
    case 'present':
      return `write ${shown({ '!!': value })}`;
    case 'isempty':
    case 'empty':
      return `write ${shown({ '!': value })}`;
    case 'between':
      return `write ${shown({ '<=': [operands[1] ?? 0, value, operands[2] ?? 100] })}`;
    case 'regex':
    case 'regexp':
    case 'match':
    case 'matches':
    case '=~':
    case 'like':
    case 'glob':
      return `conditions know no patterns: a part of a text is found by {"in": ["part", ${shown(value)}]}, its beginning by {"===": [{"substr": [${shown(value)}, 0, 4]}, "part"]}; a pattern needs a transform, which returns null for what it does not want`;
    default:
      return undefined;
  }
}
