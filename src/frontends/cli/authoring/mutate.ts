import { sep } from 'node:path';
import { findWitness } from '../../../authoring/advice/routes.ts';
import { displayName, formatPlace, readDocument } from '../../../base/document/document.ts';
import type { Generation } from '../../../service/generation/generation.ts';
import {
  caseFileOf,
  createGoldenEngine,
  type GoldenCase,
  type Mutant,
  mutantsOf,
  recordCase,
  runCase,
} from '../../../authoring/golden/golden.ts';
import { WORK_LIMITS } from '../../../engine/mapping/facts.ts';
import { type RoutingTable, WorkBudget } from '../../../engine/mapping/mapping.ts';
import type { HookRequest } from '../../../base/request.ts';
import { clearControl } from '../../../base/telemetry/telemetry.ts';
import type { Workbench } from '../../../authoring/workbench/workbench.ts';
import type { Terminal } from '../terminal.ts';

export interface MutateOptions {
  readonly bench: Workbench;
  readonly generation: Generation;
  readonly cases: readonly GoldenCase[];
  /** The folder for new cases that would notice; absent: they are printed. */
  readonly dir?: string;
}

/**
 * Changes mappings in one place after the other, and says what no golden case notices. Resolves to whether
 * every change is noticed.
 */
export async function mutate(terminal: Terminal, options: MutateOptions): Promise<boolean> {
  const { bench, generation, cases } = options;
  const before = await textsOf(cases, generation);
  const parsed = new Map();
  let [tried, noticed] = [0, 0];
  for (const [file, mutant] of await allMutants(generation, terminal.cwd)) {
    const open = { texts: new Map([[file, mutant.text]]), parsed };
    // Each change is a set-up of its own, so one follows the other.
    const { generation: changed } = await bench.load({ open, reuse: generation });
    // A refused file could not go live, so no case has to notice it.
    if (changed === undefined) continue;
    tried += 1;
    const after = await textsOf(cases, changed, before);
    if (after.some((text, index) => text !== before[index])) noticed += 1;
    else await tell(terminal, mutant, findTelling(mutant, changed.table, options), options.dir);
  }
  const percent = tried === 0 ? 100 : Math.floor((noticed * 100) / tried);
  terminal.out(`golden cases notice ${noticed} of ${tried} changes of mappings (${percent}%)`);
  return noticed === tried;
}

async function allMutants(
  { files, config }: Generation,
  cwd: string,
): Promise<readonly (readonly [string, Mutant])[]> {
  const own = files.filter(({ path }) => path.startsWith(`${config.settings.hooks.mappingsDir}${sep}`));
  const read = await Promise.all(
    own.map(async ({ path }) => [path, await readDocument(path, { cwd })] as const),
  );
  return read.flatMap(([path, { document }]) =>
    document === undefined ? [] : mutantsOf(document.root).map((mutant) => [path, mutant] as const),
  );
}

/** Describes each case as its expectation does, and stops at the first that differs from before. */
async function textsOf(
  cases: readonly GoldenCase[],
  generation: Generation,
  before?: readonly string[],
): Promise<readonly string[]> {
  const engine = createGoldenEngine(generation);
  const texts: string[] = [];
  for (const [index, golden] of cases.entries()) {
    // Transforms share one sandbox.
    texts.push((await runCase(golden, engine)).actualText);
    if (before !== undefined && texts[index] !== before[index]) break;
  }
  return texts;
}

/** Searches from an empty request first, and then from the cases. */
function findTelling(
  { path = 'any-name', mapping }: Mutant,
  changed: RoutingTable,
  { generation: { table }, cases }: MutateOptions,
): HookRequest | undefined {
  const both = [table, changed].flatMap(({ mappings }) => mappings.filter(({ id }) => id === mapping));
  const rules = both.flatMap(({ match: { when }, templates }) => [
    ...(when === undefined ? [] : [when.rule]),
    ...[...templates.values()].flatMap(({ readsAt = [] }) =>
      readsAt.map(({ keys }) => ({ var: keys.join('.') })),
    ),
  ]);
  const holds = (request: HookRequest): boolean => printed(table, request) !== printed(changed, request);
  const known = cases.flatMap(({ deliveries }) => deliveries.map(({ request }) => request));
  const base = known.find((request) => request.path === path);
  const wanted = { path, rules, narrowed: [], holds };
  return findWitness(wanted) ?? (base && findWitness({ ...wanted, base }));
}

/** Returns an empty text where the request costs too much. */
function printed(table: RoutingTable, request: HookRequest): string {
  const scope = { request, work: new WorkBudget(WORK_LIMITS) };
  try {
    const taken = table.route(scope);
    const texts = [...(taken?.templates ?? [])].map(([key, template]) => [key, template.render(scope)]);
    return JSON.stringify([taken?.id, ...texts.filter(([, text]) => text !== '')]);
  } catch {
    return '';
  }
}

async function tell(
  terminal: Terminal,
  { at, mapping, what }: Mutant,
  request: HookRequest | undefined,
  dir: string | undefined,
): Promise<void> {
  const head = `${formatPlace(at)}  ${mapping}: ${what}`;
  const way =
    request === undefined
      ? 'no request was found that tells; it may make no difference'
      : dir === undefined
        ? `this request would tell: ${JSON.stringify(caseFileOf(request))}`
        : `written: ${displayName((await recordCase(request, { dir, masks: [] })).file, terminal.cwd)}`;
  terminal.out(clearControl(`${head}\n  ${way}`));
}
