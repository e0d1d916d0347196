/** Signs of the templates of other tools. Nothing is translated: what was meant by one only its author knows, and a page shows all of them. */
import { say } from '../../base/finding.ts';
import type { TemplateSubject } from '../../engine/mapping/facts.ts';
import type { LookFinding } from './rule.ts';

/** The one hint on conditions and templates of other tools. */
export const SEE_OTHER_TOOLS = say`look in docs/other-tools.md, which shows conditions and templates of other tools as they are written here`;

/** Statements and roots of other languages: whatever else is wrong with such a template follows from them. */
const LANGUAGE =
  /\{%-?\s*\w[^%]*%\}|\{\{-?\s*(?:end\b|(?:range|with|if|else if|len|index|printf)\b[^{}]*[\s("][.$])[^{}]*\}\}|\{\{\s*\$(?:node\[|\()[^{}]*\}\}/;
/** Marks around a name, which is sent as text here. */
const MARK = /^=(?=\{\{)|(?<!\\)\$\{[a-z_][\w-]*(?:\.[\w-]+)*\}|<%[=-][^%]*%>/;
/** A name in single braces: only in a text that has no expression of ours. */
const BRACES = /(?<![{$\\%#])\{(?:[A-Za-z_]\w*(?:\.\w+)+|[a-z_][a-z0-9_]*)\}(?!\})/;

/** What another tool would fill in, the first of it. */
export function foreignSyntax({
  source,
  findings,
  isUsable,
  placeOf,
}: TemplateSubject): readonly LookFinding[] {
  const language = findings.length === 0 && !source.includes('{%') ? null : LANGUAGE.exec(source);
  const match = language ?? MARK.exec(source) ?? (source.includes('{{') ? null : BRACES.exec(source));
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
