/**
 * Finds what a transform uses of Node's or a browser's globals that is not there, and module-level collections that
 * forget. esbuild knows which names are global in a file: it replaces those by names of ours, and its source map says
 * where each stood.
 */
import type { GraphFile } from './load-graph.ts';
import { MISSING_GLOBALS } from '../names.ts';
import { printFile, type SourceFinding } from './scan-sources.ts';
import { originalPlace, readMap } from './source-map.ts';

const MARK = '__sluice_scan_';
const REPLACED = new RegExp(
  `(typeof )?${MARK}([A-Za-z_]+)((?:\\??\\.[A-Za-z_$][\\w$]*|\\["[\\w$]+"\\])?)`,
  'g',
);
/** As esbuild prints a statement of the top level: an empty Map or Set that keeps nothing from call to call. */
const COLLECTION = new RegExp(
  `^(?:export )?(?:const|let|var) [\\w$]+ = (?:/\\* @__PURE__ \\*/ )?new ${MARK}(Map|Set)\\(\\)`,
);

const DEFINE: Readonly<Record<string, string>> = {
  ...Object.fromEntries(MISSING_GLOBALS.map((name) => [name, MARK + name.replace('.', '_')])),
  'process.env': `${MARK}env`,
  Map: `${MARK}Map`,
  Set: `${MARK}Set`,
};

/** A use of a name in the text that esbuild made of a file; line and column from 0. */
interface GlobalUse {
  readonly name: string;
  readonly isGuard: boolean;
  /** What is read of it: `.NAME`. */
  readonly member: string;
  readonly line: number;
  readonly column: number;
}

export async function scanGlobals(files: ReadonlyMap<string, GraphFile>): Promise<readonly SourceFinding[]> {
  const found = await Promise.all([...files.values()].map(scanFile));
  return found.flat();
}

async function scanFile(file: GraphFile): Promise<readonly SourceFinding[]> {
  const printed = await printFile(file, DEFINE);
  if (printed?.code.includes(MARK) !== true) return [];
  const map = readMap(printed.map);
  const lines = printed.code.split('\n');
  const uses = lines.flatMap(usesIn);
  const guarded = new Set(uses.filter(({ isGuard }) => isGuard).map(({ name }) => name));
  return uses.flatMap((use) => {
    // With the lines behind it, on which the options of a call stand.
    const line = lines.slice(use.line, use.line + 8).join('\n');
    const finding = guarded.has(use.name) ? undefined : describeUse(use, line);
    const at = finding && originalPlace(map, use.line, use.column);
    return finding === undefined || at === undefined ? [] : [{ ...finding, file: file.id, ...at }];
  });
}

function usesIn(text: string, line: number): GlobalUse[] {
  return [...text.matchAll(REPLACED)].map((match) => {
    const [, guard, name = '', member = ''] = match;
    const column = match.index + (guard?.length ?? 0);
    return { name, isGuard: guard !== undefined, member, line, column };
  });
}

type UseFinding = Omit<SourceFinding, 'file' | 'line' | 'column'>;

function describeUse({ name, member }: GlobalUse, line: string): UseFinding | undefined {
  if (name === 'Map' || name === 'Set')
    return COLLECTION.exec(line)?.[1] === name ? describeCollection(name) : undefined;
  if (name === 'env') return describeEnv(member.replace(/^\??\.|^\["|"\]$/g, ''));
  const global = name.replace('crypto_', 'crypto.');
  // `const { env } = process` works.
  if (global === 'process' && member === '') return undefined;
  return {
    code: 'TRANSFORM_MISSING_GLOBAL',
    message: `${global}${global === 'process' ? member.replace('?', '') : ''} does not exist in a transform`,
    length: global.length,
    facts: { name: global },
  };
}

function describeCollection(name: string): UseFinding {
  return {
    severity: 'warning',
    code: 'TRANSFORM_FORGETS',
    message: `this ${name} is empty again for every call, because the top level of a module runs for each one`,
    length: 0,
  };
}

function describeEnv(name: string): UseFinding | undefined {
  if (name === '') return undefined;
  return {
    severity: 'warning',
    code: 'TRANSFORM_ENV_MISSING',
    message: `process.env.${name} is not set for this transform`,
    length: 'process.env'.length,
    env: name,
  };
}
