import { printSentence, plural, type Finding, type Place } from '../finding.ts';
import { defined } from '../json.ts';
import { styleText } from 'node:util';
import { clearControl, clearLine } from '../telemetry/telemetry.ts';
import { formatPlace, lineColumn, positionOf } from './located.ts';
import { sourceFrame } from './source-frame.ts';

export type FindingFormat = 'pretty' | 'github' | 'sarif';

export interface FormatOptions {
  /** Default `pretty`. */
  readonly format?: FindingFormat;
  /** Whether `pretty` uses colours; default false. */
  readonly color?: boolean;
}

/**
 * Prints findings: `pretty` for people (source lines with carets, labels, a hint, a line of counts), `github` as workflow annotations, `sarif` as SARIF 2.1.0; in the order given. Ends with a line feed unless
 * there is nothing to print.
 */
export function formatFindings(found: readonly Finding[], options: FormatOptions = {}): string {
  const findings = withHidden(found);
  switch (options.format ?? 'pretty') {
    case 'pretty':
      return printPretty(findings, options.color === true);
    case 'github':
      return findings.map((finding) => `${toAnnotation(findingToJson(finding))}\n`).join('');
    case 'sarif':
      return `${JSON.stringify(toSarif(findings.map(findingToJson)), undefined, 2)}\n`;
  }
}

/**
 * The findings as a reader needs them: errors, then warnings; what may be meant as it is only where nothing else is
 * found; otherwise in the order given. What samples say has notes, which stand below all else.
 */
export function byWeight(
  findings: readonly Finding[],
  ofSamples: readonly Finding[] = [],
): readonly Finding[] {
  const isNote = ({ isGeneral }: Finding): boolean => isGeneral === true;
  const all = [...findings, ...ofSamples.filter((each) => !isNote(each))];
  const weight = ({ severity }: Finding): number => (severity === 'error' ? 0 : 1);
  const shown = all.every(isNote) ? all : all.filter((each) => !isNote(each));
  return [...shown.toSorted((a, b) => weight(a) - weight(b)), ...ofSamples.filter(isNote)];
}

/** The findings with dots, in every frame of a file, over what one of them hides. */
function withHidden(findings: readonly Finding[]): readonly Finding[] {
  const hidden = new Map<string, NonNullable<Finding['hides']>>();
  for (const { at, hides } of findings) {
    if (at === undefined || hides === undefined || hides.length === 0) continue;
    hidden.set(at.source.text, [...(hidden.get(at.source.text) ?? []), ...hides]);
  }
  if (hidden.size === 0) return findings;
  const hide = (at: Place): Place => {
    const more = hidden.get(at.source.text) ?? [];
    return { ...at, source: { ...at.source, secrets: [...(at.source.secrets ?? []), ...more] } };
  };
  return findings.map((finding) => {
    const { at, labels } = finding;
    const covered = labels?.map((label) => ({ ...label, at: hide(label.at) }));
    return { ...finding, ...(at && { at: hide(at) }), ...(covered && { labels: covered }) };
  });
}

/** `2 errors, 1 warning`. */
function countFindings(findings: readonly Finding[]): string {
  const errors = findings.filter(({ severity }) => severity === 'error').length;
  const warnings = findings.length - errors;
  if (errors === 0 && warnings > 0) return plural(warnings, 'warning');
  return warnings === 0
    ? plural(errors, 'error')
    : `${plural(errors, 'error')}, ${plural(warnings, 'warning')}`;
}

function printPretty(findings: readonly Finding[], color: boolean): string {
  if (findings.length === 0) return '';
  const blocks = findings.map((finding) => prettyBlock(finding, color));
  return `${blocks.join('\n')}\n${countFindings(findings)}\n`;
}

function prettyBlock(finding: Finding, color: boolean): string {
  const { severity, code, message, at, labels = [], hint, isGeneral } = finding;
  const style = (format: Parameters<typeof styleText>[0], text: string): string =>
    color ? styleText(format, text, { validateStream: false }) : text;
  const lines = [
    `${style(['bold', severity === 'error' ? 'red' : 'yellow'], severity)} ${style('bold', code)}: ${clearLine(printSentence(message))}`,
  ];
  if (at !== undefined) {
    const whole = at.source.text === '';
    lines.push(`  ${style('cyan', `at ${clearLine(whole ? at.source.file : formatPlace(at))}`)}`);
    if (!whole && isGeneral !== true) lines.push(sourceFrame(at, { before: 2, after: 1 }));
  }
  for (const label of labels) {
    lines.push(
      `  ${style('cyan', clearLine(formatPlace(label.at)))}: ${clearLine(printSentence(label.text))}`,
    );
    if (label.at.source.text !== '') lines.push(sourceFrame(label.at, { before: 0, after: 0 }));
  }
  if (hint !== undefined) {
    const [first = '', ...others] = printSentence(hint).split('\n').map(clearLine);
    lines.push(`  ${style('green', 'hint:')} ${first}`, ...others.map((line) => `    ${line}`));
  }
  return `${lines.join('\n')}\n`;
}

/** A part of a file; lines and columns are counted from 1. */
export interface PlaceJson {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly endLine: number;
  readonly endColumn: number;
}

/** A finding in the files; `message`, `hint` and `text` are written for people, and free to change. */
export interface FindingJson extends Partial<PlaceJson> {
  readonly severity: Finding['severity'];
  readonly code: string;
  readonly message: string;
  readonly labels?: readonly (PlaceJson & { readonly text: string })[];
  readonly hint?: string;
}

export const findingToJson = ({ severity, code, message, at, labels, hint }: Finding): FindingJson => ({
  severity,
  code,
  message: printSentence(message),
  ...(at && position(at)),
  ...defined({
    labels: labels?.map((label) => ({ ...position(label.at), text: printSentence(label.text) })),
    hint: hint && printSentence(hint),
  }),
});

function position(at: NonNullable<Finding['at']>): PlaceJson {
  const { line, column } = lineColumn(at);
  const end = positionOf(at.source.text, at.end);
  return { file: at.source.file, line, column, endLine: end.line, endColumn: end.column };
}

function toAnnotation({ severity, code, message, hint, labels: _labels, ...at }: FindingJson): string {
  const { file, line, column: col, endLine, endColumn } = at;
  const range = endLine === line ? { col, endColumn } : { endLine };
  const place = defined({ file, line, ...range, title: code });
  return printAnnotation(severity, place, [message, ...(hint === undefined ? [] : [hint])].join('\n'));
}

/** A workflow command; `%`, line ends and, in properties, `:` and `,` are escaped as the runner expects them. */
export function printAnnotation(
  severity: Finding['severity'],
  properties: Readonly<Record<string, string | number>>,
  text: string,
): string {
  const list = Object.entries(properties).map(([name, value]) => `${name}=${escapeProperty(String(value))}`);
  return `::${severity} ${list.join(',')}::${escapeText(text)}`;
}

function escapeText(text: string): string {
  return clearControl(text).replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function escapeProperty(text: string): string {
  return escapeText(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}

/** The findings as a SARIF 2.1.0 log (OASIS standard), columns in UTF-16 code units. */
function toSarif(findings: readonly FindingJson[]): object {
  const codes = [...new Set(findings.map(({ code }) => code))];
  const rules = codes.map((id) => ({ id, help: { text: `sluice check --explain ${id}` } }));
  const results = findings.map(({ code, severity, message, hint, labels, file, ...at }) => ({
    ruleId: code,
    ruleIndex: codes.indexOf(code),
    level: severity,
    message: { text: hint === undefined ? message : `${message} (${hint})` },
    ...(file !== undefined && {
      locations: [{ physicalLocation: toLocation({ file, ...at } as PlaceJson) }],
    }),
    ...(labels !== undefined && {
      relatedLocations: labels.map(({ text, ...place }, id) => ({
        id,
        physicalLocation: toLocation(place),
        message: { text },
      })),
    }),
  }));
  const runs = [{ tool: { driver: { name: 'sluice', rules } }, columnKind: 'utf16CodeUnits', results }];
  return { $schema: 'https://json.schemastore.org/sarif-2.1.0.json', version: '2.1.0', runs };
}

/** A relative reference stays relative; an absolute path becomes a file URI. A file that was not read has no region. */
function toLocation({ file, line, column, endLine, endColumn }: PlaceJson): object {
  const encoded = file.split('/').map(encodeURIComponent).join('/');
  const uri = file.startsWith('/') ? `file://${encoded}` : encoded;
  const isWhole = line === 1 && column === 1 && endLine === 1 && endColumn === 1;
  const region = { startLine: line, startColumn: column, endLine, endColumn };
  return { artifactLocation: { uri }, ...(isWhole ? {} : { region }) };
}
