/** The public API: golden cases as tests, types for transform authors, and the contract of channel plugins. */
import { dirname, resolve } from 'node:path';
import { formatFindings } from './base/document/facts.ts';
import { loadGeneration, type Advise, type Generation } from './service/generation/generation.ts';
import {
  applyPolicy,
  createGoldenEngine,
  explainFailure,
  findCases,
  isCi,
  runCase,
  type CaseResult,
} from './authoring/golden/golden.ts';
import { Sandbox } from './engine/sandbox/sandbox.ts';

export type {
  ChannelAdapter,
  ChannelCheck,
  ChannelMessage,
  ChannelModule,
  ChannelSettings,
  SendResult,
} from './service/channels/channel.ts';
export {
  defineTransform,
  type Transform,
  type TransformContext,
  type TransformResult,
} from './engine/sandbox/author.ts';

export interface GoldenTestsOptions {
  /** vitest's `test`, or anything that registers a named test. */
  readonly test: (name: string, body: () => Promise<void>) => unknown;
  /** vitest's `afterAll`; the sandbox is stopped there. */
  readonly afterAll: (body: () => Promise<void>) => unknown;
  /** Configuration file; default `./sluice.yaml`. */
  readonly config?: string;
  /** Folder of the cases; default `test/golden` next to the configuration. */
  readonly dir?: string;
  /** Only cases whose name contains one of these. */
  readonly filters?: readonly string[];
  /** Default: `none` where `CI` is set, else `new`. */
  readonly policy?: 'none' | 'new' | 'all' | 'migrate';
}

/**
 * Registers one test per golden case, run by the same engine as `sluice test`; a case file that cannot be read is a
 * failing test. Await it at the top level of a test file.
 * @throws Error with the findings where the configuration, a mapping or a transform has errors
 */
export async function goldenTests(options: GoldenTestsOptions): Promise<void> {
  const config = resolve(options.config ?? 'sluice.yaml');
  const sandbox = new Sandbox({ spare: 0 });
  options.afterAll(() => sandbox.stop());
  const engine = createGoldenEngine(await loadOrThrow(config, sandbox));
  const found = await findCases(options.dir ?? resolve(dirname(config), 'test/golden'), options.filters);
  const policy = options.policy ?? (isCi(process.env) ? 'none' : 'new');
  for (const golden of found.cases) {
    options.test(golden.name, async () =>
      throwIfFailed(await applyPolicy(await runCase(golden, engine), policy)),
    );
  }
  for (const finding of found.findings) {
    options.test(`${finding.code} in ${finding.at?.source.file ?? 'the cases'}`, () => {
      throw new Error(formatFindings([finding]));
    });
  }
}

const lazyAdvice: Advise = async (findings, subjects) =>
  (await import('./authoring/advice/advice.ts')).advise(findings, subjects);

async function loadOrThrow(config: string, sandbox: Sandbox): Promise<Generation> {
  // Who runs tests of a folder runs its code.
  const mayLoadPlugins = (): boolean => true;
  const options = {
    env: process.env,
    needSecrets: false,
    dev: true,
    sandbox,
    advise: lazyAdvice,
    mayLoadPlugins,
  };
  const { generation, findings } = await loadGeneration(config, options);
  if (generation === undefined) throw new Error(formatFindings(findings));
  return generation;
}

function throwIfFailed(result: CaseResult): void {
  if (result.status !== 'failed' && result.status !== 'missing') return;
  throw new Error(`${result.status}\n${explainFailure(result, { color: false, cwd: process.cwd() })}`);
}
