/**
 * The figures of the last run that somebody wrote down: as a table in `docs/performance.md`, between marks, and their
 * ratios as JSON, against which a later run is held.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { format, resolveConfig } from 'prettier';
import type { Measured, Ratio, Row } from '../../support/parts.ts';

const PAGE = new URL('../../../docs/performance.md', import.meta.url);
const RATIOS = new URL('./ratios.json', import.meta.url);
const BEGIN = '<!-- figures: written by `npm run bench -- --write` -->';
const END = '<!-- end of figures -->';
const HEAD = '| part | measured | figure | aim | on |\n| --- | --- | --- | --- | --- |';

/** Below this a difference is the machine's mood. */
const NOISE = 0.1;

type Ratios = Readonly<Record<string, Ratio>>;

/** A ratio that is not what it was. */
export interface Change {
  readonly what: string;
  readonly was: number;
  readonly is: number;
  readonly isWorse: boolean;
}

/** Writes the rows of the parts that were measured; the others keep what stands there. */
export async function writeRecord(measured: readonly Measured[]): Promise<void> {
  const page = await readFile(PAGE, 'utf8');
  const [begin, end] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (begin < 0 || end < begin) throw new Error(`docs/performance.md has no "${BEGIN}" followed by "${END}"`);
  const rows = rowsOf(page.slice(begin + BEGIN.length, end));
  for (const { name, rows: own } of measured) rows.set(name, rowsFor(name, own));
  const section = `${BEGIN}\n\n${HEAD}\n${[...rows.values()].flat().join('\n')}\n\n`;
  await writeFile(PAGE, await pretty(page.slice(0, begin) + section + page.slice(end), 'markdown'));
  const ratios = { ...(await readRatios()), ...ratiosOf(measured) };
  await writeFile(RATIOS, await pretty(JSON.stringify(ratios), 'json'));
}

/** The ratios of this run that differ from the written ones by more than the machine's mood, the worse ones first. */
export async function compareWithRecord(measured: readonly Measured[]): Promise<readonly Change[]> {
  const before = await readRatios();
  const changes: Change[] = [];
  for (const [what, { value, better }] of Object.entries(ratiosOf(measured))) {
    const was = before[what]?.value;
    if (was === undefined || Math.abs(value / was - 1) <= NOISE) continue;
    changes.push({ what, was, is: value, isWorse: better === 'higher' ? value < was : value > was });
  }
  return changes.toSorted((a, b) => Number(b.isWorse) - Number(a.isWorse));
}

export function formatChanges(changes: readonly Change[]): string {
  if (changes.length === 0) return `no ratio differs from the written ones by more than ${NOISE * 100}%\n`;
  const lines = changes.map(({ what, was, is, isWorse }) => {
    return `${isWorse ? 'WORSE ' : 'better'}  ${what}: ${was.toFixed(2)} then, ${is.toFixed(2)} now`;
  });
  return `${lines.join('\n')}\n`;
}

/** The rows of the table between the marks, by the name of their part. */
function rowsOf(section: string): Map<string, readonly string[]> {
  const rows = new Map<string, readonly string[]>();
  for (const line of section
    .split('\n')
    .filter((each) => each.startsWith('|'))
    .slice(2)) {
    const part = line.split('|')[1]?.trim() ?? '';
    rows.set(part, [...(rows.get(part) ?? []), line]);
  }
  return rows;
}

function rowsFor(part: string, rows: readonly Row[]): readonly string[] {
  const when = new Date().toISOString().slice(0, 10);
  return rows.map(({ what, figure, aim }) => {
    const reached = aim === undefined ? '' : `${aim.text}, ${aim.met ? 'met' : '**missed**'}`;
    return `| ${part} | ${what} | ${figure} | ${reached} | ${when} |`;
  });
}

function ratiosOf(measured: readonly Measured[]): Ratios {
  const ratios: Record<string, Ratio> = {};
  for (const { name, rows } of measured) {
    for (const { what, ratio } of rows) if (ratio !== undefined) ratios[`${name}: ${what}`] = ratio;
  }
  return ratios;
}

async function readRatios(): Promise<Ratios> {
  return JSON.parse(await readFile(RATIOS, 'utf8').catch(() => '{}')) as Ratios;
}

async function pretty(text: string, parser: 'markdown' | 'json'): Promise<string> {
  const { plugins: _, ...options } = (await resolveConfig(PAGE)) ?? {};
  return format(text, { ...options, parser });
}
