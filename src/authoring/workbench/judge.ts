/*
 * Judges requests with the files as they are, and with drafts of them. Nothing here touches the generation that is
 * live: transforms run in processes of their own, so that a draft that hangs holds up no sender.
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

/** Kept requests a draft is tried on. */
const MAX_KEPT = 1_000;
/** The processes of transforms end when nobody has asked for this long. */
const IDLE_MS = 5 * 60_000;
/** How long golden cases that were read are taken as they are. */
const CASES_MS = 10_000;
/** A change that is shown; further ones are counted. */
const MAX_DIFFERENCE = 20_000;

/** What a draft means for all requests that are at hand. */
export interface Impact {
  readonly kept: number;
  readonly golden: number;
  readonly changes: readonly {
    readonly name: string;
    readonly kind: 'kept' | 'golden';
    /** Lines that begin with `+ `, `- ` or two spaces. */
    readonly difference: string;
  }[];
}

/** What explain says of a request with the files as they are; its content is told apart, with exact numbers. */
export interface Judgement extends Omit<ExplanationJson, 'request'> {
  /** Of each agent action, in order. */
  readonly prompts: readonly PromptParts[];
}

/** What requests are judged with. */
export interface JudgeDeps {
  readonly goldenDir: string;
  readonly openBench: () => Workbench;
  readonly storage: Pick<Storage, 'listKeptRequests' | 'findGeneration'>;
  /** Of another id where the files have changed. */
  readonly live: () => Pick<Generation, 'id'>;
}

export class Judge {
  readonly #deps: JudgeDeps;
  #bench: Workbench | undefined;
  #idle: NodeJS.Timeout | undefined;
  /** The files as they are, loaded for the generation with this id. */
  #base: { readonly id: string; readonly loaded: Promise<LoadedFiles> } | undefined;
  /** What was live once, loaded beside the files as they are. */
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

  /** Where drafts are loaded; opened on first use. */
  get bench(): Workbench {
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => void this.stop(), IDLE_MS).unref();
    return (this.#bench ??= this.#deps.openBench());
  }

  /** The files as they are; without a generation where they have errors, as then something older is live. */
  base(): Promise<LoadedFiles> {
    const { bench } = this;
    const { id } = this.#deps.live();
    if (this.#base?.id === id) return this.#base.loaded;
    void this.#base?.loaded.then((old) => old.release());
    const base = { id, loaded: bench.load() };
    this.#base = base;
    this.#before = new WeakMap();
    // Files with errors are mended without another generation going live.
    const forget = (): void => {
      if (this.#base === base) this.#base = undefined;
    };
    void base.loaded.then(({ generation }) => generation ?? forget(), forget);
    return base.loaded;
  }

  /** What judged a request when it came, where the files judge otherwise now; the last one stays loaded. */
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

  /** The newest kept requests and all golden cases, judged with the files as they are and with the draft. */
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

  /** Golden cases are read again: one was added. */
  forgetCases(): void {
    this.#golden = undefined;
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

/** An explanation with the prompts taken apart at their markers. */
export function judgementOf(explained: RequestExplanation): Judgement {
  const { request, ...explanation } = explanationToJson(explained);
  const prompts = explanation.actions.flatMap((action) =>
    action.kind === 'agent' ? [splitPrompt(action.prompt, request.nonce)] : [],
  );
  return { ...explanation, prompts };
}
