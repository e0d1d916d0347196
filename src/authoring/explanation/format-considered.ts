import { formatPlace } from '../../base/document/document.ts';
import type { ConsideredMapping } from '../../engine/mapping/mapping.ts';
import { clearLine } from '../../base/telemetry/telemetry.ts';
import { type Finding } from '../../base/finding.ts';
import { findingsOf, inOrderOf, type NoteCode, nearestMisses, placesOf } from '../advice/requests.ts';
import { findingLines, type LineOptions } from './format-findings.ts';

/** Misses printed with their reason; the others are counted. */
const MAX_MISSES = 10;

/** The mappings that were considered, the nearest miss first where none matched. */
export function consideredLines(
  considered: readonly ConsideredMapping[],
  findings: readonly Finding[],
  how: LineOptions,
): readonly string[] {
  const of = (code: NoteCode): readonly string[] =>
    findings.filter((each) => each.code === code).flatMap((each) => findingLines(each, how));
  if (considered.length === 0) return of('near_name');
  const taken = considered.filter(({ matched }) => matched);
  // Those without a hook name are of no other one.
  const all = considered.filter(
    ({ matched, mapping, failed }) =>
      !matched && (mapping.match.path !== undefined || failed?.part !== 'path'),
  ).length;
  const onPath = inOrderOf(findings, nearestMisses(considered));
  const near = onPath.slice(0, MAX_MISSES);
  return [
    ...(taken.length === 0
      ? onPath.length > 0
        ? ['no mapping matched; the nearest miss first:']
        : nameLines(considered, of)
      : ['mappings considered:', ...taken.flatMap((one) => mappingLines(one, findings, how))]),
    ...near.flatMap((miss) => mappingLines(miss, findings, how)),
    ...countLines({ shown: near.length, onPath: onPath.length, all }),
    ...of('also_matched'),
  ];
}

/** How many misses are not shown: of this hook name, and of others. */
function countLines(misses: { readonly shown: number; readonly onPath: number; readonly all: number }) {
  const more = misses.onPath - misses.shown;
  const others = misses.all - misses.onPath;
  return [
    ...(more > 0 ? [`  and ${more} more of this hook name`] : []),
    ...(others > 0 && others < misses.all ? [`  and ${others} of other hook names`] : []),
  ];
}

/** Where no mapping even has the hook name: what may have been meant, and the names there are. */
function nameLines(
  considered: readonly ConsideredMapping[],
  of: (code: NoteCode) => readonly string[],
): readonly string[] {
  const names = of('hook_name');
  const more = placesOf(considered).size - names.length;
  return [
    ...of('unknown_name'),
    ...of('near_name'),
    names.length === 0 ? '  there is no mapping with a hook name' : '  the hook names are:',
    ...names.map((name) => `  ${name}`),
    ...(more > 0 ? [`    and ${more} more`] : []),
    ...of('passed_over'),
  ];
}

/** A mapping that was considered, and why it was taken or not. */
function mappingLines(
  { mapping, matched }: ConsideredMapping,
  findings: readonly Finding[],
  how: LineOptions,
): readonly string[] {
  const all = findingsOf(findings, mapping);
  const isTold = all[0]?.code === 'not_held';
  return [
    ...(isTold ? [] : [`  ${matched ? '✓' : '✗'} ${clearLine(mapping.id)}  ${formatPlace(mapping.at)}`]),
    ...all.flatMap((each) => findingLines(each, how, each.code === 'not_held' ? '  ' : '    ')),
  ];
}
