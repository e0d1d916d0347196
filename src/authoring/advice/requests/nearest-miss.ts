import { formatPlace } from '../../../base/document/document.ts';
import type { ConsideredMapping } from '../../../engine/mapping/mapping.ts';
import { nearestMisses } from './considered-notes.ts';
import type { EvaluationNote } from './evaluation-note.ts';

/** Misses in the order in which something is said of them: the notes know better which is the nearest. */
export function inOrderOf(
  notes: readonly EvaluationNote[],
  misses: readonly ConsideredMapping[],
): readonly ConsideredMapping[] {
  const said = notes.filter(({ code }) => code === 'not_held').map(({ mapping }) => mapping?.at ?? '');
  const rank = ({ mapping }: ConsideredMapping): number => {
    const at = said.indexOf(formatPlace(mapping.at));
    return at === -1 ? said.length : at;
  };
  return misses.toSorted((a, b) => rank(a) - rank(b));
}

/** What is said of one mapping, but for its standing behind the one taken. */
export function notesOfMapping(
  notes: readonly EvaluationNote[],
  { id, at }: { readonly id: string; readonly at: string },
): readonly EvaluationNote[] {
  return notes.filter(
    ({ code, mapping }) => code !== 'also_matched' && mapping?.id === id && mapping.at === at,
  );
}

/** The nearest miss with all that is said of it: its mapping, and each note; undefined where no mapping has the hook name. */
export function nearestMiss(
  considered: readonly ConsideredMapping[],
  notes: readonly EvaluationNote[],
): { readonly id: string; readonly at: string; readonly notes: readonly EvaluationNote[] } | undefined {
  const [nearest] = inOrderOf(notes, nearestMisses(considered)).filter(
    ({ matched, failed }) => !matched && failed !== undefined,
  );
  if (nearest === undefined) return undefined;
  const about = { id: nearest.mapping.id, at: formatPlace(nearest.mapping.at) };
  return { ...about, notes: notesOfMapping(notes, about) };
}
