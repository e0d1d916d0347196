import type { Place } from '../../base/document/document.ts';
import { lineColumn } from '../../base/document/facts.ts';
import { defined } from '../../base/json.ts';
import type { Evaluation } from '../../engine/hook/hook.ts';
import type { CompiledMapping, RoutingTable } from '../../engine/mapping/mapping.ts';

/**
 * What a set of evaluations reached. A mapping counts once it matched. A condition leaf counts twice, once for holding
 * and once for failing, and a template block once per side. Only mappings up to the first match count as visited, because
 * later ones were never asked. An item that an operator leaves out with a comment is listed, and counts for nothing.
 */
export interface Coverage {
  readonly items: readonly CoverageItem[];
  readonly covered: number;
  readonly total: number;
}

export interface CoverageItem {
  readonly kind: 'mapping' | 'condition' | 'template';
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** What would have to happen, e.g. `mapping github-push is never taken`. */
  readonly what: string;
  readonly hits: number;
  readonly ignored?: string;
}

/** Counts what the evaluations reached of a routing table. */
export function collectCoverage(table: RoutingTable, evaluations: readonly Evaluation[]): Coverage {
  const hits = countHits(evaluations);
  const ignoredIn = ignoredLinesByFile();
  const items = table.mappings.flatMap((mapping) =>
    withReasons(mapping, mappingItems(mapping, hits), ignoredIn),
  );
  const counted = countedOf(items);
  return { items, covered: countHit(counted), total: counted.length };
}

const countedOf = (items: readonly CoverageItem[]): readonly CoverageItem[] =>
  items.filter(({ ignored }) => ignored === undefined);

function countHit(items: readonly CoverageItem[]): number {
  return items.filter((item) => item.hits > 0).length;
}

/** A comment at the mapping leaves all of it out. Other comments leave out the items of their line. */
function withReasons(
  { at }: CompiledMapping,
  items: readonly CoverageItem[],
  ignoredIn: IgnoredLines,
): readonly CoverageItem[] {
  const { file, text } = at.source;
  const ignored = ignoredIn(file, text);
  const whole = ignored.get(lineColumn(at).line);
  return items.map((item) => ({ ...item, ...defined({ ignored: whole ?? ignored.get(item.line) }) }));
}

type IgnoredLines = (file: string, text: string) => ReadonlyMap<number, string>;

function ignoredLinesByFile(): IgnoredLines {
  const lines = new Map<string, ReadonlyMap<number, string>>();
  return (file, text) => {
    const known = lines.get(file) ?? findIgnoredLines(text);
    lines.set(file, known);
    return known;
  };
}

type CoverageHits = ReadonlyMap<string, number>;

function countHits(evaluations: readonly Evaluation[]): CoverageHits {
  const hits = new Map<string, number>();
  const hit = (key: string): void => void hits.set(key, (hits.get(key) ?? 0) + 1);
  for (const { trace, mapping, further = [] } of evaluations) {
    for (const taken of mapping === undefined ? [] : [mapping, ...further]) hit(`mapping@${taken.id}`);
    for (const considered of trace.considered) {
      for (const node of considered.nodes ?? []) if (node.leaf) hit(`${node.result}@${key(node.at)}`);
    }
    for (const template of trace.templates) {
      for (const branch of template.branches) hit(`${branch.taken}@${key(branch.at)}`);
    }
  }
  return hits;
}

const key = (at: Place): string => `${at.source.file}:${at.start}`;

function itemAt(kind: CoverageItem['kind'], at: Place, what: string, hits: number): CoverageItem {
  return { kind, file: at.source.file, ...lineColumn(at), what, hits };
}

function mappingItems(mapping: CompiledMapping, hits: CoverageHits): readonly CoverageItem[] {
  const count = (what: string, at: Place): number => hits.get(`${what}@${key(at)}`) ?? 0;
  const leaves = mapping.match.when?.leaves ?? [];
  const blocks = [...mapping.templates.values()].flatMap((template) => template.blocks);
  const reached = hits.get(`mapping@${mapping.id}`) ?? 0;
  return [
    itemAt('mapping', mapping.at, `mapping ${mapping.id} is never taken`, reached),
    ...leaves.flatMap((at) => [
      itemAt('condition', at, 'the condition never holds', count('true', at)),
      itemAt('condition', at, 'the condition never fails', count('false', at) + count('unknown', at)),
    ]),
    ...blocks.flatMap((at) => [
      itemAt('template', at, 'the block is never rendered', count('main', at)),
      itemAt('template', at, 'the block is never left out', count('inverse', at)),
    ]),
  ];
}

/** Whether coverage is below a percentage, by exact fractions: 1999 of 2000 is not 100. */
export function isBelow(coverage: Coverage, percent: number): boolean {
  return coverage.covered * 100 < percent * coverage.total;
}

export const COVERAGE_FORMS = ['text', 'json', 'lcov'] as const;
export type CoverageForm = (typeof COVERAGE_FORMS)[number];

/** Prints coverage; `text` lists what is not reached as file:line:column. */
export function formatCoverage(coverage: Coverage, form: CoverageForm): string {
  switch (form) {
    case 'text':
      return formatText(coverage);
    case 'json':
      return `${JSON.stringify(coverage)}\n`;
    case 'lcov':
      return formatLcov(coverage);
  }
}

const KIND_TITLES: Readonly<Record<CoverageItem['kind'], string>> = {
  mapping: 'mappings',
  condition: 'conditions',
  template: 'template blocks',
};

function formatText(coverage: Coverage): string {
  const counted = countedOf(coverage.items);
  const missed = counted.filter((item) => item.hits === 0);
  const left = coverage.items.length - counted.length;
  const lines = missed.map((item) => `${item.file}:${item.line}:${item.column}  ${item.what}`);
  const parts = (Object.keys(KIND_TITLES) as CoverageItem['kind'][]).flatMap((kind) => {
    const all = counted.filter((item) => item.kind === kind);
    return all.length === 0 ? [] : [`${KIND_TITLES[kind]} ${countHit(all)}/${all.length}`];
  });
  const note = left === 0 ? '' : ` · ${left} ignored`;
  return `${[...lines, `coverage ${coverage.covered}/${coverage.total}: ${parts.join(' · ')}${note}`].join('\n')}\n`;
}

/** In LCOV mappings are FN, the two sides of a condition or block are branches of one block, and lines are DA. */
function formatLcov(coverage: Coverage): string {
  const counted = countedOf(coverage.items);
  const records = [...Map.groupBy(counted, ({ file }) => file)].flatMap(([file, items]) =>
    lcovRecord(file, items),
  );
  return records.length === 0 ? '' : `${records.join('\n')}\n`;
}

function lcovRecord(file: string, items: readonly CoverageItem[]): readonly string[] {
  const named = items.filter((item) => item.kind === 'mapping');
  const sides = items.filter((item) => item.kind !== 'mapping');
  return [
    'TN:',
    `SF:${file}`,
    ...named.map((item) => `FN:${item.line},${lcovName(item)}`),
    ...named.map((item) => `FNDA:${item.hits},${lcovName(item)}`),
    `FNF:${named.length}`,
    `FNH:${countHit(named)}`,
    ...sides.map((item, index) => `BRDA:${item.line},0,${index},${item.hits}`),
    `BRF:${sides.length}`,
    `BRH:${countHit(sides)}`,
    ...lcovLines(items),
    'end_of_record',
  ];
}

/** A line counts as many hits as its item with the most hits. */
function lcovLines(items: readonly CoverageItem[]): readonly string[] {
  const lines = new Map<number, number>();
  for (const item of items) lines.set(item.line, Math.max(lines.get(item.line) ?? 0, item.hits));
  return [
    ...[...lines].sort(([a], [b]) => a - b).map(([line, count]) => `DA:${line},${count}`),
    `LF:${lines.size}`,
    `LH:${[...lines.values()].filter((count) => count > 0).length}`,
  ];
}

function lcovName({ what, line, column }: CoverageItem): string {
  return `${what.replaceAll(/ is never .*$/g, '').replaceAll(',', ' ')}@${line}:${column}`;
}

/** Matches `# sluice-coverage ignore: reason`, in JSON5 with `//`. A reason is required. */
const IGNORE = /(?:#|\/\/)[ \t]*sluice-coverage ignore:[ \t]*(\S.*?)[ \t]*(?:\*\/)?$/;
const COMMENT_ONLY = /^[ \t]*(?:#|\/\/)/;

/**
 * Returns the lines (1-based) that coverage leaves out, with the reason: the line with the comment, or,
 * where the comment stands alone, the next line that holds more than a comment.
 */
function findIgnoredLines(text: string): ReadonlyMap<number, string> {
  const ignored = new Map<number, string>();
  let waiting: string | undefined;
  for (const [index, line] of text.split(/\r\n|\n|\r/).entries()) {
    const reason = IGNORE.exec(line)?.[1];
    if (COMMENT_ONLY.test(line)) {
      waiting = reason ?? waiting;
      continue;
    }
    const given = reason ?? waiting;
    if (given !== undefined && line.trim() !== '') {
      ignored.set(index + 1, given);
      waiting = undefined;
    }
  }
  return ignored;
}
