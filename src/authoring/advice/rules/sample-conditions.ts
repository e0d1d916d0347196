/** Conditions that no sample of a path satisfies, or all do, and values that none has. */
import type { Place } from '../../../base/document/document.ts';
import { mapSentence, say, type Sentence } from '../../../base/finding.ts';
import type { JsonValue } from '../../../base/json.ts';
import { compileReader, namesRead, quote } from '../../../engine/mapping/facts.ts';
import type { ConditionTrace } from '../../../engine/mapping/mapping.ts';
import { suggestPaths } from '../requests/near-paths.ts';
import { look, replacing, type Found } from '../rule.ts';
import { comparedIn, type Sample, type SampledMapping } from '../samples/sampled-mapping.ts';
import { nearMisses, type NearMiss } from '../samples/sample-advice.ts';
import { isSlip, isSlipOfValue } from '../samples/slips.ts';

/** Values that are listed. */
const MAX_VALUES = 6;

function conditionsOf(subject: SampledMapping): readonly Found[] {
  const { match } = subject.mapping;
  if (match.when === undefined || subject.ofPath.length === 0) return [];
  return subject.taken.length === 0 ? neverHolds(subject) : [...misspelt(subject), ...alwaysHolds(subject)];
}

/** A mapping that takes no sample, though one part of its condition is all that some miss. */
function neverHolds({ mapping, ofPath, table, named }: SampledMapping): readonly Found[] {
  const misses = nearMisses(mapping, ofPath, table);
  const byLeaf = Map.groupBy(misses, ({ considered: { failed } }) =>
    failed?.part === 'when' ? failed.node.at.start : -1,
  );
  const [most] = [...byLeaf.values()].toSorted((a, b) => b.length - a.length);
  const failed = most?.[0]?.considered.failed;
  if (most === undefined || failed?.part !== 'when') return [];
  const { node } = failed;
  const what = named(most.map(({ sample }) => sample));
  const found = node.missing === undefined ? neverEqual(node, most, what) : neverThere(node, most, what);
  // Where nothing says what was meant, a few samples only say that they are few.
  return found.isGeneral === true && most.length < MIN_SAMPLES ? [] : [found];
}

function neverThere(node: ConditionTrace, misses: readonly NearMiss[], what: string): Found {
  const missing = node.missing ?? '';
  const message = say`${missing} is absent in ${misses.length} of ${misses.length} ${what}, so the condition holds for none of them`;
  return { code: 'CONDITION_UNKNOWN_PATH', message, at: node.at, ...hintOf(misses) };
}

function neverEqual(node: ConditionTrace, misses: readonly NearMiss[], what: string): Found {
  const values = valuesOf(misses);
  const seen = values.length === 0 ? '' : `; ${namesRead(node.rule).join(' and ')} is ${values.join(', ')}`;
  const message = say`${node.expression} holds for none of ${misses.length} ${what}${{ sent: seen }}`;
  const found = { message, at: node.at, ...hintOf(misses) };
  const expected = node.expected;
  const near = typeof expected === 'string' ? nearValue(expected, misses) : undefined;
  if (near === undefined || typeof expected !== 'string') return found;
  const { isGeneral: _note, ...sure } = found;
  return replacing({ ...sure, hint: say`did you mean ${quote(near)}?` }, expected, near);
}

/** What to write, as most samples have it; a note where none says it. */
function hintOf(misses: readonly NearMiss[]): Pick<Found, 'hint' | 'isGeneral'> {
  const texts = Map.groupBy(
    misses.flatMap(({ notes }) => notes.slice(0, 1)),
    ({ code, paths = [] }) => `${code} ${paths.join(' ')}`,
  );
  const [, [note] = []] = [...texts].toSorted(([, a], [, b]) => b.length - a.length)[0] ?? [];
  if (note !== undefined) {
    // The sentences are of one request.
    const ofSamples = (text: string): string => text.replace('the request has', 'they have');
    return { hint: say`look at the samples: ${mapSentence(note.text, ofSamples)}` };
  }
  return { hint: NOT_KNOWN, isGeneral: true };
}

const NOT_KNOWN: Sentence = say`keep such a request as a sample where senders do send it; else correct the condition`;

/** Texts that the variable of a part of the condition has, as they are written; the most frequent first. */
function valuesOf(misses: readonly NearMiss[]): readonly string[] {
  const found = misses.flatMap(({ considered: { failed } }) =>
    failed?.part === 'when' && failed.node.found !== undefined ? [JSON.stringify(failed.node.found)] : [],
  );
  const counts = [...Map.groupBy(found, (each) => each)].toSorted(([, a], [, b]) => b.length - a.length);
  return counts.map(([value]) => (value.length > 60 ? `${value.slice(0, 60)}…` : value)).slice(0, MAX_VALUES);
}

function nearValue(expected: string, misses: readonly NearMiss[]): string | undefined {
  const texts = misses.flatMap(({ considered: { failed } }) =>
    failed?.part === 'when' && typeof failed.node.found === 'string' ? [failed.node.found] : [],
  );
  return texts.find((text) => isSlipOfValue(expected, text));
}

/** Of a condition that holds: names and texts in it that no sample has, where one that is written alike is there. */
function misspelt({ mapping: { match }, taken, ofPath, named }: SampledMapping): readonly Found[] {
  const { when } = match;
  if (when === undefined) return [];
  const names = [...new Set(namesRead(when.rule))].filter((name) => name !== '');
  const unknown = names.flatMap((name): readonly Found[] => {
    if (valuesIn(ofPath, name).length > 0) return [];
    const near = nearName(name, ofPath);
    if (near === undefined || names.includes(near)) return [];
    const message = say`${name} is absent in ${ofPath.length} of ${ofPath.length} ${named(ofPath)}`;
    const at = within(when.at, name);
    return [
      replacing(
        { code: 'CONDITION_UNKNOWN_PATH', message, at, hint: say`did you mean ${near}?` },
        name,
        near,
      ),
    ];
  });
  const texts = comparedIn(when.rule).flatMap(({ name, values }) => {
    const known = new Set(valuesIn(ofPath, name).filter((value) => typeof value === 'string'));
    return values.flatMap((value): readonly Found[] => {
      const near = known.has(value) ? undefined : [...known].find((each) => isSlipOfValue(value, each));
      if (near === undefined || values.includes(near)) return [];
      const message = say`${name} is ${quote(value)} in none of ${taken.length} ${named(taken)}`;
      const at = within(when.at, value);
      return [replacing({ message, at, hint: say`did you mean ${quote(near)}?` }, value, near)];
    });
  });
  return [...unknown, ...texts];
}

const valuesIn = (samples: readonly Sample[], name: string): readonly JsonValue[] =>
  samples.flatMap(({ request }) => compileReader(name.split('.'))({ request }) ?? []);

/** The path of samples that is the one that is read but for a slip in one of its names. */
const nearName = (name: string, samples: readonly Sample[]): string | undefined =>
  samples.flatMap(({ request }) => suggestPaths(name, request)).find(({ path }) => isSlip(name, path))?.path;

/** Where a word stands in a condition; the whole of it where it stands there more than once. */
function within(at: Place, word: string): Place {
  const text = at.source.text.slice(at.start, at.end);
  const index = text.indexOf(word);
  if (index === -1 || text.includes(word, index + 1)) return at;
  return { ...at, start: at.start + index, end: at.start + index + word.length };
}

/** Leaves something out, and holds for every sample of every kind; one that names what it takes may have all it is sent. */
function alwaysHolds({ mapping, ofPath, kindOf, named }: SampledMapping): readonly Found[] {
  const { path, when } = mapping.match;
  const kinds = new Set(ofPath.map(kindOf)).size;
  if (path === undefined || when === undefined || kinds < 2 || ofPath.length < MIN_SAMPLES) return [];
  if (!/"!(?:==?)?"/.test(JSON.stringify(when.rule))) return [];
  if (!ofPath.every(({ request }) => when.matches({ request }))) return [];
  return [
    {
      code: 'CONDITION_ALL_SAMPLES',
      message: say`the condition holds for all ${ofPath.length} ${named(ofPath)}, of ${kinds} kinds`,
      at: when.at,
      hint: say`keep a sample of what it is to leave out, or leave out the condition itself`,
      isGeneral: true,
    },
  ];
}

/** Fewer say little. */
const MIN_SAMPLES = 4;

export const SAMPLE_CONDITIONS = [
  look({
    on: 'sampled-mapping',
    codes: ['CONDITION_UNKNOWN_VALUE', 'CONDITION_UNKNOWN_PATH', 'CONDITION_ALL_SAMPLES'],
    confidence: 'likely',
    find: conditionsOf,
  }),
];
