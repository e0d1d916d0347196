import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DEFAULT_CONFIG_FILES } from '../../engine/config/config.ts';
import { type Generation, loadGeneration } from '../../service/generation/generation.ts';
import { type Project, runLanguageServer } from '../lsp/lsp.ts';
import { findSamples, samplesSay, sampleFolders } from '../../authoring/golden/golden.ts';
import { byWeight, type Finding } from '../../base/document/document.ts';
import type { SourceText } from '../../base/finding.ts';
import type { CompiledMapping, RoutingTable } from '../../engine/mapping/mapping.ts';
import { Sandbox } from '../../engine/sandbox/sandbox.ts';
import type { Cli } from './command-line.ts';
import { type ConfigFlags, findConfigFile } from './config-file.ts';
import { advise } from './lazy-advice.ts';

/** Speaks the Language Server Protocol on standard input and output, until the editor ends it. */
export async function lsp({ terminal }: Cli, flags: ConfigFlags): Promise<void> {
  const named = flags.config === undefined ? undefined : findConfigFile(terminal, flags);
  await runLanguageServer({
    input: process.stdin,
    output: process.stdout,
    openProject: (folder) => {
      const found = DEFAULT_CONFIG_FILES.map((name) => join(folder, name)).find((file) => existsSync(file));
      const file = named ?? found;
      return file === undefined ? undefined : openProject(file, terminal.env);
    },
  });
}

/**
 * Of what did not change, transforms, samples and what these say are taken from the last time. Where transforms have to
 * be loaded, which takes a second, all else is told before.
 */
export function openProject(configFile: string, env: NodeJS.ProcessEnv): Project {
  const sandbox = new Sandbox({ spare: 0 });
  const options = { env, needSecrets: false, dev: true, sandbox, advise };
  let whole: Generation | undefined;
  let table: RoutingTable | undefined;
  let samples: Awaited<ReturnType<typeof findSamples>> | undefined;
  let told: readonly Finding[] = [];

  /** What samples say now: of the mappings that changed, and of the others what they said before. */
  const judgeSamples = async ({ config, evaluate, ...now }: Generation, isFresh: boolean): Promise<void> => {
    if (isFresh || samples === undefined) samples = await findSamples(sampleFolders(config), now.table);
    const touched = touchedSources(now.table, isFresh ? undefined : table);
    const current = new Set(now.table.mappings.map(({ at }) => at.source));
    const asked = ({ at }: CompiledMapping): boolean => touched.has(at.source);
    // Transforms that are not loaded say nothing.
    const judged =
      now.transforms === whole?.transforms ? { table: now.table, evaluate } : { table: now.table };
    const { findings } = await samplesSay(samples, judged, asked);
    told = [...told.filter(({ at }) => at && current.has(at.source) && !touched.has(at.source)), ...findings];
    table = now.table;
  };

  return {
    configFile,
    async *load(open, isFresh) {
      const reuse = whole === undefined || isFresh ? {} : { reuse: whole };
      for (const withoutTransforms of [true, false]) {
        // What is shown first does not wait for the rest.
        // oxlint-disable-next-line no-await-in-loop
        const loaded = await loadGeneration(configFile, { ...options, open, ...reuse, withoutTransforms });
        const { generation, findings } = loaded;
        const isWhole = generation !== undefined && (!withoutTransforms || hasAll(generation));
        if (isWhole) {
          if (whole?.transforms !== generation.transforms) whole?.transforms.release();
          whole = generation;
        }
        // oxlint-disable-next-line no-await-in-loop
        if (generation !== undefined) await judgeSamples(generation, isFresh && withoutTransforms);
        const broken = new Set(findings.map(({ at }) => at?.source.file));
        const isTold = ({ at }: Finding): boolean => generation !== undefined || !broken.has(at?.source.file);
        const { transformsDir } = whole?.config.settings.hooks ?? {};
        yield {
          findings: byWeight(findings, told.filter(isTold)),
          samples: samples?.samples ?? [],
          mappings: table?.mappings ?? [],
          ...(transformsDir === undefined ? {} : { transformsDir }),
        };
        if (isWhole) return;
      }
    },
    close: () => sandbox.stop(),
  };
}

/** Whether every transform that a mapping names is loaded. */
const hasAll = ({ table, transforms }: Generation): boolean =>
  table.mappings.every(({ transform }) => transform === undefined || transforms.hashes.has(transform.module));

/** Files with a mapping of a path of which a mapping changed: the kinds of its events are told apart by all of a path. */
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
