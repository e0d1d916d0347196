/** Judges the files of a project anew while somebody types, and only as far as they changed. */
import { byWeight, type Finding, type OpenTexts } from '../../base/document/document.ts';
import type { SourceText } from '../../base/finding.ts';
import type { Sample } from '../advice/samples.ts';
import type { CompiledMapping, RoutingTable } from '../../engine/mapping/mapping.ts';
import type { Generation } from '../../service/generation/generation.ts';
import { findSamples, samplesSay, sampleFolders } from '../golden/golden.ts';
import { Workbench } from './load.ts';

export interface LoadedProject {
  readonly findings: readonly Finding[];
  /** The mappings of the last time without errors. */
  readonly mappings: readonly CompiledMapping[];
  readonly samples: readonly Sample[];
}

export interface Project {
  readonly configFile: string;
  /**
   * Judges only what differs from the last time; `isFresh` also reads transforms and samples again. Yields
   * what is known first, and the whole where that takes longer.
   */
  load(open: OpenTexts, isFresh: boolean): AsyncIterable<LoadedProject>;
  close(): Promise<void>;
}

/**
 * Transforms and samples that did not change are used again. Loading transforms takes a second, so
 * everything else is yielded before.
 */
export function openProject(configFile: string, env: NodeJS.ProcessEnv): Project {
  const bench = new Workbench(configFile, { env });
  let whole: Generation | undefined;
  let table: RoutingTable | undefined;
  let samples: Awaited<ReturnType<typeof findSamples>> | undefined;
  let sampleFindings: readonly Finding[] = [];

  /** Only mappings that changed are judged again; the other findings are those of the last time. */
  const judgeSamples = async ({ config, evaluate, ...now }: Generation, isFresh: boolean): Promise<void> => {
    if (isFresh || samples === undefined) samples = await findSamples(sampleFolders(config), now.table);
    const touched = touchedSources(now.table, isFresh ? undefined : table);
    const current = new Set(now.table.mappings.map(({ at }) => at.source));
    const asked = ({ at }: CompiledMapping): boolean => touched.has(at.source);
    // Transforms that are not loaded have no findings.
    const judged =
      now.transforms === whole?.transforms ? { table: now.table, evaluate } : { table: now.table };
    const { findings } = await samplesSay(samples, judged, asked);
    sampleFindings = [
      ...sampleFindings.filter(({ at }) => at && current.has(at.source) && !touched.has(at.source)),
      ...findings,
    ];
    table = now.table;
  };

  return {
    configFile,
    async *load(open, isFresh) {
      const reuse = whole === undefined || isFresh ? {} : { reuse: whole };
      for (const withoutTransforms of [true, false]) {
        // What is shown first does not wait for the rest.
        const { generation, findings } = await bench.load({ open, ...reuse, withoutTransforms });
        const isWhole = generation !== undefined && (!withoutTransforms || hasAll(generation));
        if (isWhole) {
          if (whole?.transforms !== generation.transforms) whole?.transforms.release();
          whole = generation;
        }
        if (generation !== undefined) await judgeSamples(generation, isFresh && withoutTransforms);
        const broken = new Set(findings.map(({ at }) => at?.source.file));
        const isJudged = ({ at }: Finding): boolean =>
          generation !== undefined || !broken.has(at?.source.file);
        yield {
          findings: byWeight(findings, sampleFindings.filter(isJudged)),
          samples: samples?.samples ?? [],
          mappings: table?.mappings ?? [],
        };
        if (isWhole) return;
      }
    },
    close: () => bench.stop(),
  };
}

const hasAll = ({ table, transforms }: Generation): boolean =>
  table.mappings.every(({ transform }) => transform === undefined || transforms.hashes.has(transform.module));

/** All mappings of a path tell its kinds of events apart, so a change of one affects the files of all. */
function touchedSources(now: RoutingTable, before: RoutingTable | undefined): ReadonlySet<SourceText> {
  const known = new Set(before?.mappings.map(({ at }) => at.source));
  const current = new Set(now.mappings.map(({ at }) => at.source));
  const changed = [
    ...now.mappings.filter(({ at }) => !known.has(at.source)),
    ...(before?.mappings ?? []).filter(({ at }) => !current.has(at.source)),
  ];
  const paths = new Set(changed.map(({ match }) => match.path));
  const touched = now.mappings.filter(
    ({ match: { path } }) =>
      paths.has(path) || (paths.size > 0 && path === undefined) || paths.has(undefined),
  );
  return new Set(touched.map(({ at }) => at.source));
}
