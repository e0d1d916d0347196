/**
 * Recognises templates of other tools. Nothing is translated, because only the author knows what was meant;
 * a page of the documentation shows them all.
 */
import { say } from '../../base/finding.ts';
import type { TemplateSubject } from '../../engine/mapping/facts.ts';
import type { LookFinding } from './rule.ts';

export const SEE_OTHER_TOOLS = say`look in docs/comparison.md, which shows conditions and templates of other tools as they are written here`;

const LANGUAGE =
  /\{%-?\s*\w[^%]*%\}|\{\{-?\s*(?:end\b|(?:range|with|if|else if|len|index|printf)\b[^{}]*[\s("][.$])[^{}]*\}\}|\{\{\s*\$(?:node\[|\()[^{}]*\}\}|\{\{[^{}[]*\[\?[^{}]*\}\}|\{\{[^{}?]*\s\?\s[^{}]*\s:\s[^{}]*\}\}/;
const MARK = /^=(?=\{\{)|(?<!\\)\$\{[a-z_][\w-]*(?:\.[\w-]+)*\}|<%[=-][^%]*%>/;
const BRACES = /(?<![{$\\%#])\{(?:[A-Za-z_]\w*(?:\.\w+)+|[a-z_][a-z0-9_]*)\}(?!\})/;

/** A format of a date in the letters of another tool, which are printed as they are. */
const FORMAT =
  /(?<=(?:\{\{[~{&]*|\()\s*date\s+[\w.@[\]/-]{1,100}\s+["'])[^"'{}]*(?:YYYY|DD|%[A-Za-z])[^"'{}]*(?=["'])/;

/** Finds the first part that another tool would fill in. */
export function foreignSyntax({
  source,
  findings,
  isUsable,
  placeOf,
}: TemplateSubject): readonly LookFinding[] {
  const language = findings.length === 0 && !source.includes('{%') ? null : LANGUAGE.exec(source);
  const match =
    language ??
    MARK.exec(source) ??
    FORMAT.exec(source) ??
    (source.includes('{{') ? null : BRACES.exec(source));
  if (match === null) return [];
  const [written] = match;
  return [
    {
      message: say`${JSON.stringify(written.slice(0, 80))} is an expression of another tool; here it is text`,
      at: placeOf(match.index, match.index + written.length),
      hint: SEE_OTHER_TOOLS,
      ...(language !== null && { severity: isUsable ? 'warning' : 'error', replaces: findings }),
    },
  ];
}
