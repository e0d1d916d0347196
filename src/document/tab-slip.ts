import type { YAMLError } from 'yaml';
import { say, type Finding, type SourceText } from '../finding.ts';

const TAB = {
  severity: 'error',
  code: 'YAML_TAB',
  message: say`a tab is used as indentation, expected spaces`,
  hint: say`replace every tab at the beginning of a line with two spaces for each level`,
} as const;

/** A tab in the indentation of the line at which the parser stumbles, whatever it calls that. */
export function findTab(source: SourceText, { code, pos: [start, end] }: YAMLError): Finding | undefined {
  const tab = code === 'TAB_AS_INDENT' ? start : tabBefore(source.text, start);
  if (tab === undefined) return undefined;
  const at = { source, start: tab, end: tab === start ? Math.max(end, tab + 1) : tab + 1 };
  return { ...TAB, at, ...withoutTabs(source, tab) };
}

function tabBefore(text: string, offset: number): number | undefined {
  const lineStart = text.lastIndexOf('\n', offset - 1) + 1;
  const [indent = ''] = /^[ \t]*/.exec(text.slice(lineStart, lineStart + 200)) ?? [];
  return indent.includes('\t') ? lineStart + indent.indexOf('\t') : undefined;
}

/** All lines that are indented with tabs, from the first on: one slip of one editor. Texts over several lines may mean them. */
function withoutTabs(source: SourceText, offset: number): Pick<Finding, 'edit'> | undefined {
  const { text } = source;
  if (/[|>][+-]?\d*[ \t]*(?:#.*)?$/m.test(text)) return undefined;
  const start = text.lastIndexOf('\n', offset - 1) + 1;
  const rest = text.slice(start);
  const indented = rest.replaceAll(/^[ ]*\t[ \t]*/gm, (found) => found.replaceAll('\t', '  '));
  return indented === rest
    ? undefined
    : { edit: { at: { source, start, end: text.length }, text: indented } };
}
