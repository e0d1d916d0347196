import { clearLine } from '../telemetry/telemetry.ts';
import type { FieldList } from '../advice/requests.ts';
import { type Paint } from './format-lines.ts';

/** Columns of the path; a longer one moves its own line only. */
const MAX_PATH = 44;

/** The fields of a request under one another: path, value, and what reads it. */
export function fieldLines({ fields, more, unsigned = [] }: FieldList, paint: Paint): readonly string[] {
  if (fields.length === 0) return [];
  const width = Math.min(MAX_PATH, Math.max(...fields.map(({ path }) => clearLine(path).length)));
  const lines = fields.map(({ path, value, by }) => {
    const readers = by.length === 0 ? '' : `  ${paint('cyan', `← ${by.join(', ')}`)}`;
    const found = value === undefined ? paint('yellow', 'missing') : clearLine(value);
    const open = unsigned.includes(path) ? `  ${paint('yellow', 'unsigned')}` : '';
    return `  ${clearLine(path).padEnd(width)}  ${found}${readers}${open}`;
  });
  return [
    `fields of the request, and what reads them (←)${unsigned.length === 0 ? '' : '; unsigned: not covered by the signature of the sender'}:`,
    ...lines,
    ...(more > 0 ? [`  and ${more} more`] : []),
  ];
}
