/** Which of the places at which the YAML parser stumbles are told: one slip makes it stumble again and again. */
import type { Finding } from '../finding.ts';
import { lineColumn, positionOf } from './line-column.ts';

const MAX_TOLD = 3;
/** Findings nearer than this to the one before them are of the same slip. */
const LINES_APART = 3;

/** Findings after which the parser stumbles. */
const BROKEN: ReadonlySet<string> = new Set(['YAML_SYNTAX', 'YAML_TAB']);

const isBroken = ({ code }: Finding): boolean => BROKEN.has(code);

/** The findings that are told; where the text itself is broken, a strange key is a part of it. */
export function firstStumbles(stumbles: readonly Finding[]): readonly Finding[] {
  const syntax = apart(stumbles.filter(isBroken)).slice(0, MAX_TOLD);
  return stumbles.filter((found) =>
    isBroken(found) ? syntax.includes(found) : found.code !== 'NON_STRING_KEY' || syntax.length === 0,
  );
}

function apart(findings: readonly Finding[]): readonly Finding[] {
  const kept: Finding[] = [];
  let last = -Infinity;
  for (const finding of findings) {
    const { at } = finding;
    if (at === undefined || isTabAgain(finding, kept)) continue;
    const { line } = lineColumn(at);
    // A slip that is known by its own line is none of the parser's stumbles.
    if (line - last >= LINES_APART || (finding.edit !== undefined && line > last)) kept.push(finding);
    last = Math.max(last, line, positionOf(at.source.text, at.end).line);
  }
  return kept;
}

/** One finding stands for all tabs: they are of one editor. */
function isTabAgain({ code }: Finding, kept: readonly Finding[]): boolean {
  return code === 'YAML_TAB' && kept.some((each) => each.code === code);
}
