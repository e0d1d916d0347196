/**
 * Judges requests with the files as they are, and with drafts of them. It never touches the live
 * generation: transforms run in processes of their own, so a draft that hangs delays no sender.
 */
import { splitPrompt, type PromptParts } from '../../base/boundary/boundary.ts';
import type { HookRequest } from '../../base/request.ts';
import { readKeptRequest, type Evaluation } from '../../engine/hook/hook.ts';
import type { Storage } from '../../engine/storage/storage.ts';
import type { Generation } from '../../service/generation/generation.ts';
import {
  explanationToJson,
  type ExplanationJson,
  type RequestExplanation,
} from '../explanation/explanation.ts';
import {
  caseOfRequest,
  type GoldenCase,
  compareOutcomes,
  createGoldenEngine,
  findCases,
  type GoldenEngine,
} from '../golden/golden.ts';
import { type ValidFiles, judging, type LoadedFiles, type Workbench } from './load.ts';

const MAX_KEPT = 1_000;
/** The processes of transforms end when nobody has asked for this long. */
const IDLE_MS = 5 * 60_000;
/** Golden cases that were read are not read again for this long. */
const CASES_MS = 10_000;
const MAX_DIFFERENCE = 20_000;

export interface Impact {
  readonly kept: number;
  readonly golden: number;
  readonly changes: readonly {
    readonly name: string;
    readonly kind: 'kept' | 'golden';
    readonly difference: string;
  }[];
}

/** What explain says of a request with the files as they are. The content is separate, with exact numbers. */
export interface Judgement extends Omit<ExplanationJson, 'request'> {
  /** The prompt of each agent action, in order. */
  readonly prompts: readonly PromptParts[];
}

export interface JudgeDeps {
  readonly goldenDir: string;
  readonly openBench: () => Workbench;
  readonly storage: Pick<Storage, 'listKeptRequests' | 'findGeneration'>;
  /** The id changes when the files have changed. */
  readonly live: () => Pick<Generation, 'id'>;
}

export class Judge {
  readonly #deps: JudgeDeps;
  #bench: Workbench | undefined;
  #idle: NodeJS.Timeout | undefined;
  #base: { readonly id: string; readonly loaded: Promise<LoadedFiles> } | undefined;
  #then:
    | { readonly kept: string; readonly now: LoadedFiles; readonly loaded: Promise<LoadedFiles | undefined> }
    | undefined;
  #before = new WeakMap<HookRequest, Promise<Evaluation>>();
  /** Kept requests that were read, so that each is parsed and judged as it is only once. */
  #kept = new Map<string, GoldenCase>();
  #golden: { readonly at: number; readonly cases: Promise<readonly GoldenCase[]> } | undefined;

  constructor(deps: JudgeDeps) {
    this.#deps = deps;
  }

  /** Opened on first use; drafts are loaded here. */
  get bench(): Workbench {
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => void this.stop(), IDLE_MS).unref();
    return (this.#bench ??= this.#deps.openBench());
  }

  /** Loads the files as they are. There is no generation where they have errors, because an older one is live then. */
  base(): Promise<LoadedFiles> {
    const { bench } = this;
    const { id } = this.#deps.live();
    if (this.#base?.id === id) return this.#base.loaded;
    void this.#base?.loaded.then((old) => old.release());
    const base = { id, loaded: bench.load() };
    this.#base = base;
    this.#before = new WeakMap();
    // Files with errors can be mended without another generation going live.
    const forget = (): void => {
      if (this.#base === base) this.#base = undefined;
    };
    void base.loaded.then(({ generation }) => generation ?? forget(), forget);
    return base.loaded;
  }

  /** Returns what judged a request when it came, where the files judge otherwise now. The last one stays loaded. */
  async before(id: string | undefined): Promise<ValidFiles | undefined> {
    if (id === undefined || id === this.#deps.live().id) return undefined;
    const kept = await this.#deps.storage.findGeneration(id);
    if (kept === undefined) return undefined;
    const now = await this.base();
    if (now.generation === undefined) return undefined;
    if (this.#then?.kept !== id || this.#then.now !== now) {
      void this.#then?.loaded.then((old) => old?.release());
      const { hooks } = now.generation.config.settings;
      this.#then = { kept: id, now, loaded: this.bench.loadKept(kept, { now: now.generation, hooks }) };
    }
    return judging(await this.#then.loaded);
  }

  /** Judges the newest stored requests and all golden cases with the files as they are and with the draft. */
  async impact(draft: Generation, signal: AbortSignal): Promise<Impact | undefined> {
    const { generation: base } = await this.base();
    if (base === undefined) return undefined;
    const [kept, golden] = await Promise.all([this.#keptCases(), this.#goldenCases()]);
    const [before, after] = [this.#remembering(createGoldenEngine(base)), createGoldenEngine(draft)];
    const report = await compareOutcomes([...kept, ...golden], before, { after, signal });
    const keptNames = new Set(kept.map(({ name }) => name));
    return {
      kept: kept.length,
      golden: golden.length,
      changes: report.changes.map(({ name, difference }) => ({
        name,
        kind: keptNames.has(name) ? 'kept' : 'golden',
        difference: difference.slice(0, MAX_DIFFERENCE),
      })),
    };
  }

  async stop(): Promise<void> {
    clearTimeout(this.#idle);
    const bench = this.#bench;
    this.#bench = undefined;
    this.#base = undefined;
    await (await this.#then?.loaded)?.release();
    this.#then = undefined;
    await bench?.stop();
  }

  /** Judges each request with the files as they are once, and not again for every draft. */
  #remembering(engine: GoldenEngine): GoldenEngine {
    return {
      ...engine,
      evaluate: (request) => {
        const known = this.#before.get(request.request) ?? engine.evaluate(request);
        this.#before.set(request.request, known);
        return known;
      },
    };
  }

  async #keptCases(): Promise<readonly GoldenCase[]> {
    const known = this.#kept;
    this.#kept = new Map();
    for (const kept of await this.#deps.storage.listKeptRequests(MAX_KEPT, 'whole')) {
      const { requestId } = kept;
      const { request, unread } = readKeptRequest(kept);
      if (unread !== undefined) continue;
      this.#kept.set(requestId, known.get(requestId) ?? caseOfRequest(request));
    }
    return [...this.#kept.values()];
  }

  #goldenCases(): Promise<readonly GoldenCase[]> {
    const now = performance.now();
    if (this.#golden === undefined || now - this.#golden.at > CASES_MS) {
      const cases = findCases(this.#deps.goldenDir).then((found) => found.cases);
      this.#golden = { at: now, cases };
    }
    return this.#golden.cases;
  }
}

/** Returns an explanation with the prompts split at their markers. */
export function judgementOf(explained: RequestExplanation): Judgement {
  const { request, ...explanation } = explanationToJson(explained);
  const prompts = explanation.actions.flatMap((action) =>
    action.kind === 'agent' ? [splitPrompt(action.prompt, request.nonce)] : [],
  );
  return { ...explanation, prompts };
}
