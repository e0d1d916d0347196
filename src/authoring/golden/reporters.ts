import { escapeHtml } from '../../base/telemetry/telemetry.ts';
import { printSentence } from '../../base/finding.ts';
import { basename, dirname, relative } from 'node:path';
import { diff } from 'node:util';
import { formatPlace, type Finding } from '../../base/document/document.ts';
import { findingToJson, formatFindings, printAnnotation } from '../../base/document/facts.ts';
import { formatEvaluation, painter } from '../explanation/explanation.ts';
import { hintsOn } from './case-hints.ts';
import type { CaseResult, CaseStatus, RunReport } from './run-cases.ts';

export const REPORTERS = ['pretty', 'junit', 'json', 'github'] as const;
export type ReporterName = (typeof REPORTERS)[number];

export interface ReportOptions {
  readonly color: boolean;
  /** The folder to which names in reports are relative. */
  readonly cwd: string;
  readonly verbose?: boolean;
}

/** Prints a report in one of the forms; the text ends with a newline. */
export function formatReport(report: RunReport, reporter: ReporterName, options: ReportOptions): string {
  switch (reporter) {
    case 'pretty':
      return formatPretty(report, options);
    case 'junit':
      return formatJunit(report, options);
    case 'json':
      return `${JSON.stringify(toJson(report, options))}\n`;
    case 'github':
      return formatGithub(report, options);
  }
}

const HAS_NO_NEWS: ReadonlySet<CaseStatus> = new Set<CaseStatus>(['passed', 'migrated']);
const FAILED: ReadonlySet<CaseStatus> = new Set<CaseStatus>(['failed', 'missing']);

/** Prints the difference between the expectation file and what happened, then why it happened. */
export function explainFailure(result: CaseResult, options: ReportOptions): string {
  const isMissing = result.status === 'missing';
  const why = result.evaluations
    .map((evaluation, index) => {
      // The difference shows the changed actions. Where there is none, the actions are the news.
      const advice = result.advice[index];
      const text = formatEvaluation(evaluation, {
        color: options.color,
        actions: isMissing,
        ...(advice === undefined ? {} : { advice }),
      });
      return result.case.isList ? `delivery ${index + 1}\n${indent(text)}` : text;
    })
    .join('\n');
  const first = hintsOn(result).map((hint) => `hint: ${hint}`);
  if (isMissing) {
    const file = relative(options.cwd, result.case.expectedFile);
    const missing = `there is no ${file}: run "sluice test ${result.case.name}" without CI set, which writes it, and commit it`;
    return [...first, missing, why].join('\n\n');
  }
  const before = withoutHead(result.expected?.text ?? '');
  const difference = formatDifference(before, withoutHead(result.actualText), options.color);
  // Where nothing is wrong with the file, the outcome of the request is what differs.
  return (first.length === 0 ? [why, difference] : [...first, difference, why]).join('\n\n');
}

/** The file's own comment offers to write it anew, which does not fit a difference. */
const withoutHead = (text: string): string => text.replace(/^(?:#.*\r?\n)+/, '').trimEnd();

const CONTEXT_LINES = 3;

/** Prints a line diff with three lines around each change; `-` is the expectation, `+` what happened. */
export function formatDifference(expected: string, actual: string, color: boolean): string {
  // Git may have written the file with other line ends.
  const entries = diff(expected.split(/\r?\n/), actual.split('\n'));
  const shown = nearChanges(entries);
  const lines: string[] = [];
  let skipped = false;
  for (const [index, entry] of entries.entries()) {
    if (shown.has(index)) {
      if (skipped) lines.push(painter(color)('dim', '  …'));
      lines.push(differenceLine(entry, color));
    }
    skipped = !shown.has(index);
  }
  return lines.join('\n');
}

type DiffEntry = ReturnType<typeof diff>[number];

function nearChanges(entries: readonly DiffEntry[]): ReadonlySet<number> {
  const shown = new Set<number>();
  for (const [index, [operation]] of entries.entries()) {
    if (operation === 0) continue;
    for (let near = index - CONTEXT_LINES; near <= index + CONTEXT_LINES; near++) shown.add(near);
  }
  return shown;
}

function differenceLine([operation, line]: DiffEntry, color: boolean): string {
  if (operation === 0) return `  ${line}`;
  // util.diff says 1 for a line of its first text only.
  return operation === 1 ? painter(color)('red', `- ${line}`) : painter(color)('green', `+ ${line}`);
}

function formatPretty(report: RunReport, options: ReportOptions): string {
  const blocks: string[] = [];
  for (const result of report.results) {
    if (FAILED.has(result.status)) {
      const title = painter(options.color)('red', `✗ ${result.case.name}  ${result.status}`);
      blocks.push(`${title}\n${indent(explainFailure(result, options))}\n`);
    } else if (!HAS_NO_NEWS.has(result.status) || options.verbose === true) {
      blocks.push(passedLine(result, options));
    }
  }
  blocks.push(...report.removed.map((file) => `- ${relative(options.cwd, file)}  removed`));
  if (report.findings.length > 0)
    blocks.push(formatFindings(report.findings, { color: options.color }).trimEnd());
  const old = report.results.filter(
    ({ expected, status }) => expected?.isFirstFormat === true && status === 'passed',
  ).length;
  if (old > 0)
    blocks.push(
      `${old} expectation${old === 1 ? ' is' : 's are'} in the form of version 0.1.0 and compared by code and field: "sluice test --migrate" rewrites ${old === 1 ? 'it' : 'them'}`,
    );
  blocks.push(summaryLine(report));
  return `${blocks.join('\n')}\n`;
}

/** A new expectation that records an error or a refusal is a question, and no success. */
function passedLine(result: CaseResult, { color }: ReportOptions): string {
  const {
    case: { name },
    status,
    evaluations,
  } = result;
  const [error] = evaluations.flatMap(({ outcome }) => (outcome.kind === 'rejected' ? [outcome.error] : []));
  const isNew = status === 'written' || status === 'updated';
  const hints = isNew
    ? hintsOn(result)
        .map((hint) => `\n  hint: ${hint}`)
        .join('')
    : '';
  const empty = isNew ? printedNothing(result) : [];
  const note = empty.length === 0 ? '' : `; these printed nothing: ${empty.join(', ')}`;
  if (error === undefined || HAS_NO_NEWS.has(status))
    return `${painter(color)('green', '✓')} ${name}  ${status}${note}${hints}`;
  const what = error.status >= 500 ? 'error' : 'refusal';
  return `${painter(color)('red', '!')} ${name}  ${status}, but it records the ${what} ${error.status} ${error.code}: is that what is wanted? (${error.detail})${hints}`;
}

/** Expressions of a new expectation that found nothing, which it would keep so. */
function printedNothing({ evaluations }: CaseResult): readonly string[] {
  const templates = evaluations.flatMap(({ trace }) => trace.templates);
  const found = templates.flatMap(({ field, empty }) =>
    empty.map(({ expression }) => `${field}: ${expression}`),
  );
  return [...new Set(found)].slice(0, 3);
}

function summaryLine(report: RunReport): string {
  const count = (status: CaseStatus): number =>
    report.results.filter((result) => result.status === status).length;
  // No case counts as both passed and failed.
  const among = (statuses: readonly CaseStatus[]): string => {
    const named = statuses
      .filter((status) => count(status) > 0)
      .map((status) => `${count(status)} ${status}`);
    return named.length === 0 ? '' : ` (${named.join(', ')})`;
  };
  const errors = errorsOf(report);
  // One file with two findings is one case that failed.
  const broken = new Set(errors.map(({ at }, index) => at?.source.file ?? index)).size;
  const failed = count('failed') + count('missing') + broken;
  const passed = report.results.length - count('failed') - count('missing');
  return `golden cases: ${passed} passed${among(['written', 'updated', 'migrated'])}, ${failed} failed${among(['missing'])} (${(report.tookMs / 1000).toFixed(2)} s)`;
}

function errorsOf({ findings }: RunReport): readonly Finding[] {
  return findings.filter(({ severity }) => severity === 'error');
}

function formatJunit(report: RunReport, options: ReportOptions): string {
  const cases = report.results.map((result) => junitCase(result, options));
  const errors = errorsOf(report).map(junitError);
  const failures = report.results.filter((result) => FAILED.has(result.status)).length;
  const counts = `tests="${cases.length + errors.length}" failures="${failures}" errors="${errors.length}" time="${seconds(report.tookMs)}"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${counts}>`,
    `  <testsuite name="golden cases" ${counts}>`,
    ...cases,
    ...errors,
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}

const seconds = (ms: number): string => (ms / 1000).toFixed(3);

function junitCase(result: CaseResult, options: ReportOptions): string {
  const { name, requestFile } = result.case;
  const open = `    <testcase classname="${xml(name.includes('/') ? dirname(name) : 'golden')}" name="${xml(basename(name))}" file="${xml(relative(options.cwd, requestFile))}" time="${seconds(result.tookMs)}"`;
  if (!FAILED.has(result.status)) return `${open}/>`;
  const text = explainFailure(result, { ...options, color: false });
  return `${open}>\n      <failure message="${xml(result.status)}">${xml(text)}</failure>\n    </testcase>`;
}

function junitError(finding: Finding): string {
  return `    <testcase classname="case files" name="${xml(finding.at === undefined ? finding.code : formatPlace(finding.at))}" time="0">\n      <error type="${finding.code}" message="${xml(printSentence(finding.message))}"/>\n    </testcase>`;
}

function caseToJson(result: CaseResult, options: ReportOptions): unknown {
  const shown = {
    name: result.case.name,
    status: result.status,
    file: relative(options.cwd, result.case.requestFile),
    tookMs: Math.round(result.tookMs),
  };
  if (!FAILED.has(result.status)) return shown;
  return {
    ...shown,
    expected: result.case.expected?.text ?? null,
    actual: result.actualText,
    explanation: explainFailure(result, { ...options, color: false }),
  };
}

function toJson(report: RunReport, options: ReportOptions): unknown {
  return {
    tookMs: Math.round(report.tookMs),
    cases: report.results.map((result) => caseToJson(result, options)),
    findings: report.findings.map(findingToJson),
    removed: report.removed.map((file) => relative(options.cwd, file)),
  };
}

function formatGithub(report: RunReport, options: ReportOptions): string {
  const lines = report.results
    .filter((result) => FAILED.has(result.status))
    .map((result) => {
      const file = relative(options.cwd, result.case.requestFile);
      const title = `golden case ${result.case.name} ${result.status}`;
      return printAnnotation(
        'error',
        { file, line: 1, title },
        explainFailure(result, { ...options, color: false }),
      );
    });
  const findings = formatFindings(report.findings, { format: 'github' }).trimEnd();
  return `${[...lines, ...(findings === '' ? [] : [findings]), summaryLine(report)].join('\n')}\n`;
}

const indent = (text: string): string => text.replaceAll(/^(?=.)/gm, '  ');

// XML 1.0 cannot write most control characters, lone surrogates and U+FFFE, so they become U+FFFD.
const xml = (text: string): string =>
  escapeHtml(text.toWellFormed().replaceAll(/(?![\t\n\r])\p{Cc}|[\uFFFE\uFFFF]/gu, '\uFFFD'));
