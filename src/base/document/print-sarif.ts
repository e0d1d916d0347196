import { printSentence } from '../finding.ts';
import type { Finding, Place } from '../finding.ts';
import { lineColumn, positionOf } from './line-column.ts';

/** The findings as a SARIF 2.1.0 log (OASIS standard), columns in UTF-16 code units. */
export function printSarif(findings: readonly Finding[]): object {
  const codes = [...new Set(findings.map(({ code }) => code))];
  return {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: {
            name: 'sluice',
            rules: codes.map((id) => ({ id, help: { text: `sluice check --explain ${id}` } })),
          },
        },
        columnKind: 'utf16CodeUnits',
        results: findings.map((finding) => toResult(finding, codes)),
      },
    ],
  };
}

function toResult(
  { severity, code, message, at, labels = [], hint }: Finding,
  codes: readonly string[],
): object {
  return {
    ruleId: code,
    ruleIndex: codes.indexOf(code),
    level: severity,
    message: {
      text:
        hint === undefined ? printSentence(message) : `${printSentence(message)} (${printSentence(hint)})`,
    },
    ...(at === undefined ? {} : { locations: [{ physicalLocation: toLocation(at) }] }),
    ...(labels.length === 0 ? {} : { relatedLocations: labels.map(toRelated) }),
  };
}

function toRelated({ at, text }: NonNullable<Finding['labels']>[number], id: number): object {
  return { id, physicalLocation: toLocation(at), message: { text: printSentence(text) } };
}

function toLocation(at: Place): object {
  const start = lineColumn(at);
  const end = positionOf(at.source.text, at.end);
  const region = {
    startLine: start.line,
    startColumn: start.column,
    endLine: end.line,
    endColumn: end.column,
  };
  return {
    artifactLocation: { uri: toUri(at.source.file) },
    ...(at.source.text === '' ? {} : { region }),
  };
}

/** A relative reference stays relative; an absolute path becomes a file URI. */
function toUri(file: string): string {
  const encoded = file.split('/').map(encodeURIComponent).join('/');
  return file.startsWith('/') ? `file://${encoded}` : encoded;
}
