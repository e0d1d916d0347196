/**
 * What differs between two records of the same cases. Code, place and fix of every finding, what became of a request, and
 * mended files must be equal: a difference is a loss until somebody says otherwise. Texts, order and audience may change,
 * and are listed for a reader.
 */
import type { FrozenCase, FrozenFinding } from './record.ts';

/** Must not be. */
const STRICT = [
  'lost case',
  'lost finding',
  'new finding',
  'moved place',
  'lost fix',
  'changed fix',
  'new fix',
  'changed severity',
  'changed mended file',
  'changed fact',
] as const;
/** For a reader. */
const LOOSE = ['new case', 'reworded', 'other order', 'other audience', 'other output'] as const;

export interface Difference {
  readonly kind: (typeof STRICT)[number] | (typeof LOOSE)[number];
  readonly case: string;
  /** The code of the finding; the name of the fact, file or command line where it is about no finding. */
  readonly code: string;
  readonly before: string;
  readonly after: string;
}

export const isStrict = ({ kind }: Pick<Difference, 'kind'>): boolean =>
  (STRICT as readonly string[]).includes(kind);

/** `renamed`: new names of codes by their old ones. */
export function compareCases(
  before: readonly FrozenCase[],
  after: readonly FrozenCase[],
  renamed: Readonly<Record<string, string>> = {},
): readonly Difference[] {
  const others = new Map(after.map((each) => [each.case, each]));
  const known = new Set(before.map((each) => each.case));
  return [
    ...before.flatMap((own) => {
      const other = others.get(own.case);
      return other === undefined
        ? [{ kind: 'lost case' as const, case: own.case, code: 'case', before: own.case, after: '' }]
        : compareCase(withNewNames(own, renamed), other);
    }),
    ...after
      .filter((each) => !known.has(each.case))
      .map((each) => ({
        kind: 'new case' as const,
        case: each.case,
        code: 'case',
        before: '',
        after: each.case,
      })),
  ];
}

function withNewNames(own: FrozenCase, renamed: Readonly<Record<string, string>>): FrozenCase {
  return {
    ...own,
    findings: own.findings.map((each) => ({ ...each, code: renamed[each.code] ?? each.code })),
  };
}

function compareCase(before: FrozenCase, after: FrozenCase): readonly Difference[] {
  const found = compareFindings(before, after);
  return [
    ...found,
    ...compareMaps(before.facts, after.facts).map((each) => ({
      ...each,
      kind: 'changed fact' as const,
      case: before.case,
    })),
    ...compareMaps(before.mended, after.mended).map((each) => ({
      ...each,
      kind: 'changed mended file' as const,
      case: before.case,
    })),
    ...compareMaps(before.texts, after.texts).map((each) => ({
      ...each,
      ...firstLines(each),
      kind: 'other output' as const,
      case: before.case,
    })),
  ];
}

function compareMaps(
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
): readonly Pick<Difference, 'code' | 'before' | 'after'>[] {
  const shown = (value: unknown): string =>
    typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  return [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .map((code) => ({ code, before: shown(before[code]), after: shown(after[code]) }))
    .filter((each) => each.before !== each.after);
}

/** The first lines that differ, of two long texts. */
function firstLines({
  before,
  after,
}: Pick<Difference, 'before' | 'after'>): Pick<Difference, 'before' | 'after'> {
  const [was, is] = [before.split('\n'), after.split('\n')];
  const start = was.findIndex((line, index) => line !== is[index]);
  const from = start < 0 ? was.length : start;
  const cut = (lines: readonly string[]): string => lines.slice(from, from + 3).join('\n');
  return { before: cut(was), after: cut(is) };
}

type Pair = readonly [before: FrozenFinding, after: FrozenFinding];

function compareFindings(before: FrozenCase, after: FrozenCase): readonly Difference[] {
  const name = before.case;
  const left = [...after.findings];
  const pairs: Pair[] = [];
  // The most alike first, so that of two findings with one code and place each meets its own.
  let open = [...before.findings];
  for (const isSame of ALIKE) {
    open = open.filter((own) => {
      const index = left.findIndex((other) => isSame(own, other));
      if (index < 0) return true;
      pairs.push([own, ...(left.splice(index, 1) as [FrozenFinding])]);
      return false;
    });
  }
  return [
    ...open.map((own) => ({
      kind: 'lost finding' as const,
      case: name,
      code: own.code,
      before: shownFinding(own),
      after: '',
    })),
    ...left.map((other) => ({
      kind: 'new finding' as const,
      case: name,
      code: other.code,
      before: '',
      after: shownFinding(other),
    })),
    ...pairs.flatMap((pair) => comparePair(name, pair)),
    ...compareOrder(before, after, pairs),
  ];
}

const hasCode = (a: FrozenFinding, b: FrozenFinding): boolean => a.by === b.by && a.code === b.code;

const ALIKE: readonly ((a: FrozenFinding, b: FrozenFinding) => boolean)[] = [
  (a, b) => hasCode(a, b) && a.place === b.place && a.text === b.text && String(a.fix) === String(b.fix),
  (a, b) => hasCode(a, b) && a.place === b.place && a.text === b.text,
  (a, b) => hasCode(a, b) && a.place === b.place && String(a.fix) === String(b.fix),
  (a, b) => hasCode(a, b) && a.place === b.place,
  (a, b) => hasCode(a, b) && a.text === b.text,
  hasCode,
];

const shownFinding = ({ by, place, text }: FrozenFinding): string =>
  `${by} at ${place || 'no place'}: ${text}`;

function comparePair(name: string, [own, other]: Pair): readonly Difference[] {
  const of = { case: name, code: own.code };
  const found: Difference[] = [];
  const add = (kind: Difference['kind'], before: string, after: string): void => {
    if (before !== after) found.push({ ...of, kind, before, after });
  };
  add('moved place', own.place, other.place);
  add('changed severity', own.severity ?? '', other.severity ?? '');
  add('other audience', own.audience ?? '', other.audience ?? '');
  add('reworded', own.text, other.text);
  return [...found, ...compareFixes(of, own, other)];
}

/** A fix that was read from a sentence is kept where its text still stands in the finding, as data or in words. */
function compareFixes(
  of: Pick<Difference, 'case' | 'code'>,
  own: FrozenFinding,
  other: FrozenFinding,
): readonly Difference[] {
  const [before, after] = [own.fix.join('\n'), other.fix.join('\n')];
  if (before === after) return [];
  if (own.fix.length === 0) {
    // What the hint said already in words is now data, too.
    if (other.fix.every((fix) => own.text.includes(fix))) return [];
    return [{ ...of, kind: 'new fix', before, after }];
  }
  if (other.fix.length === 0 && !own.fix.every((fix) => other.text.includes(fix)))
    return [{ ...of, kind: 'lost fix', before, after }];
  if (own.by !== 'module' && own.fix.every((fix) => standsIn(fix, other))) return [];
  return [
    {
      ...of,
      kind: own.by === 'module' && other.fix.length < own.fix.length ? 'lost fix' : 'changed fix',
      before,
      after,
    },
  ];
}

/** Data says it without the words that a sentence has behind it; words say it anywhere in them. */
function standsIn(fix: string, { text, fix: data }: FrozenFinding): boolean {
  const areWords = data.every((each) => text.includes(each));
  return (areWords && text.includes(fix)) || data.some((each) => each !== '' && fix.startsWith(each));
}

function compareOrder(before: FrozenCase, after: FrozenCase, pairs: readonly Pair[]): readonly Difference[] {
  const found: Difference[] = [];
  for (const by of new Set(before.findings.map((each) => each.by))) {
    const own = pairs.filter(([each]) => each.by === by);
    const was = own.toSorted(([a], [b]) => before.findings.indexOf(a) - before.findings.indexOf(b));
    const is = own.toSorted(([, a], [, b]) => after.findings.indexOf(a) - after.findings.indexOf(b));
    if (was.every((pair, index) => pair === is[index])) continue;
    const codes = (list: readonly Pair[]): string => list.map(([{ code }]) => code).join(', ');
    const first = was.find((pair, index) => pair !== is[index])?.[0].code ?? by;
    found.push({ kind: 'other order', case: before.case, code: first, before: codes(was), after: codes(is) });
  }
  return found;
}
