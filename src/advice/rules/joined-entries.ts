/** Keys that are given twice because two entries of a list flow into one: the dash of the second is missing. */
import { quoted, say } from '../../finding.ts';
import type { Finding, Place, TextEdit } from '../../finding.ts';
import type { Join } from '../join.ts';
import { hint, remedy } from '../rule.ts';

/** One finding for all keys of such an entry; a single key that is given twice stays as it is. */
export const joinedEntries: Join = {
  on: ['DUPLICATE_KEY'],
  join: (found) => {
    const groups: Finding[][] = [];
    for (const one of found.filter(isDouble)) {
      const last = groups.at(-1);
      const isNext =
        last !== undefined &&
        columnOf(last[0]) === columnOf(one) &&
        !last.some((other) => keyOf(other) === keyOf(one));
      if (isNext) last.push(one);
      else groups.push([one]);
    }
    const joined = groups.filter((group) => group.length > 1);
    return [
      ...joined.map(describeJoined),
      ...found.filter((one) => !joined.some((group) => group.includes(one))),
    ];
  },
};

const isDouble = ({ at, labels }: Finding): boolean =>
  at !== undefined && labels?.[0] !== undefined && isFirstInLine(at);

const lineStartOf = ({ source, start }: Place): number => source.text.lastIndexOf('\n', start - 1) + 1;

/** In a block: before the key stand only spaces. */
function isFirstInLine(at: Place): boolean {
  return at.source.text.slice(lineStartOf(at), at.start).trim() === '';
}

const columnOf = (found: Finding | undefined): number =>
  found?.at === undefined ? 0 : found.at.start - lineStartOf(found.at);

const keyOf = ({ at }: Finding): string =>
  at === undefined ? '' : at.source.text.slice(at.start, at.end).replaceAll(/["']/g, '');

function describeJoined(group: readonly Finding[]): Finding {
  const [first] = group as [Finding];
  const at = first.at as Place;
  const keys = group.map(keyOf);
  const [firstKey = ''] = keys;
  const column = columnOf(first);
  const dash = column >= 2 ? dashBefore(first.labels?.[0]?.at ?? at, column) : undefined;
  const base = { severity: 'error', code: 'DUPLICATE_KEY', at, labels: first.labels ?? [] } as const;
  const twice = `${keys.slice(0, 4).join(', ')} are given twice`;
  if (dash === undefined)
    return { ...base, message: say`two objects flow into one: ${twice}`, hint: quoted(MAKE_A_LIST) };
  return {
    ...base,
    message: say`two entries of the list flow into one: ${twice}`,
    hint: say`a new entry begins with a dash: - ${firstKey}: …`,
    // Where it is certain that this key is the first of its entry.
    ...(isFirstOfEntry(at, dash, firstKey) && { edit: beginWithDash(at) }),
  };
}

const MAKE_A_LIST =
  'of two objects make a list: begin the line of the first key of each with "- ", and indent its other lines by two spaces';

function beginWithDash({ source, start }: Place): TextEdit {
  return { at: { source, start: start - 2, end: start }, text: '- ' };
}

/** The line that begins the entry in which a key at a column stands. */
function dashBefore(at: Place, column: number): string | undefined {
  const lines = at.source.text.slice(0, at.end).split('\n');
  const line = lines.findLast((text) => /^ *- /.test(text) && text.indexOf('-') === column - 2);
  return line?.slice(column);
}

function isFirstOfEntry(at: Place, dash: string, key: string): boolean {
  const before = at.source.text.slice(0, lineStartOf(at)).split('\n').at(-2) ?? '';
  return before.trim() === '' || dash.replaceAll(/["']/g, '').startsWith(`${key}:`);
}

/** Keys of a mapping that are written twice because both are meant, and how the two are joined. */
const TWICE: Readonly<Record<string, string>> = {
  match:
    'an entry has one match; for "one or the other" write one match with when: {"or": [rule, rule]}, for "both" when: {"and": [rule, rule]}; for another path, a second entry with its own id',
  when: 'a match has one when; join the rules: when: {"and": [rule, rule]}, or {"or": [rule, rule]} where one of them is enough',
  path: 'an entry takes one path; write a second entry with its own id for the other one',
  messageTemplate: 'an entry has one template; join the texts in one, with | for several lines',
  mappings: 'put the entries of both below one mappings',
};

export const DOUBLE_KEYS = [
  hint('DUPLICATE_KEY', ['both-are-meant', 'certain'], ({ of }, finding) =>
    of === 'mapping' && Object.hasOwn(TWICE, keyOf(finding)) ? TWICE[keyOf(finding)] : undefined,
  ),
  remedy('DUPLICATE_KEY', say`keep one of the two`, 'guess'),
];
