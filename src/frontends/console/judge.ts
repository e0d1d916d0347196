/*
 * Judges requests with the files as they are, and with drafts of them. Nothing here touches the generation that is
 * live: transforms run in processes of their own, so that a draft that hangs holds up no sender.
 */
import { splitPrompt } from '../../base/boundary/boundary.ts';
import {
  explainRequest,
  explanationToJson,
  type RequestExplanation,
} from '../../authoring/explanation/explanation.ts';
import {
  caseOfRequest,
  type GoldenCase,
  compareOutcomes,
  createGoldenEngine,
  findCases,
  type GoldenEngine,
} from '../../authoring/golden/golden.ts';
import { readKeptRequest, type Evaluation } from '../../engine/hook/hook.ts';
import type { HookRequest } from '../../base/request.ts';
import type { ConsoleDeps, ConsoleGeneration, LoadedWork, Workshop } from './console-deps.ts';
import type { ImpactAnswer, Judgement } from './protocol.ts';

/** Kept requests a draft is tried on. */
const MAX_KEPT = 1_000;
/** The processes of transforms end when nobody has asked for this long. */
const IDLE_MS = 5 * 60_000;
/** How long golden cases that were read are taken as they are. */
const CASES_MS = 10_000;
/** A change that is shown; further ones are counted. */
const MAX_DIFFERENCE = 20_000;

type Impact = Omit<ImpactAnswer, 'typeFindings'>;

/** A generation without errors, and what was found in its files. */
export type JudgedWith = Required<Pick<LoadedWork, 'generation'>> & Pick<LoadedWork, 'findings'>;

/** What requests are judged with. */
export interface JudgeDeps extends Pick<ConsoleDeps, 'goldenDir' | 'openWorkshop'> {
  readonly storage: Pick<ConsoleDeps['storage'], 'listKeptRequests' | 'findGeneration'>;
  /** Of another id where the files have changed. */
  readonly live: () => Pick<ConsoleGeneration, 'id'>;
}

export class Judge {
  readonly #deps: JudgeDeps;
  #workshop: Workshop | undefined;
  #idle: NodeJS.Timeout | undefined;
  /** The files as they are, loaded for the generation with this id. */
  #base: { readonly id: string; readonly loaded: Promise<LoadedWork> } | undefined;
  /** What was live once, loaded beside the files as they are. */
  #then:
    | {
        readonly kept: string | undefined;
        readonly now: LoadedWork;
        readonly loaded: Promise<LoadedWork | undefined>;
      }
    | undefined;
  #before = new WeakMap<HookRequest, Promise<Evaluation>>();
  /** Kept requests that were read, so that each is parsed and judged as it is only once. */
  #kept = new Map<string, GoldenCase>();
  #golden: { readonly at: number; readonly cases: Promise<readonly GoldenCase[]> } | undefined;

  constructor(deps: JudgeDeps) {
    this.#deps = deps;
  }

  /** Where drafts are loaded; opened on first use. */
  get workshop(): Workshop {
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => void this.stop(), IDLE_MS).unref();
    return (this.#workshop ??= this.#deps.openWorkshop());
  }

  /** The files as they are; without a generation where they have errors, as then something older is live. */
  base(): Promise<LoadedWork> {
    const { workshop } = this;
    const { id } = this.#deps.live();
    if (this.#base?.id !== id) {
      void this.#base?.loaded.then((old) => old.release());
      const base = { id, loaded: workshop.load() };
      this.#base = base;
      this.#before = new WeakMap();
      // Files with errors are mended without another generation going live.
      const forget = (): void => {
        if (this.#base === base) this.#base = undefined;
      };
      void base.loaded.then(({ generation }) => generation ?? forget(), forget);
      return base.loaded;
    }
    return this.#base.loaded;
  }

  /** What judged a request when it came, where the files judge otherwise now; the last one stays loaded. */
  async before(id: string | undefined): Promise<JudgedWith | undefined> {
    if (id === undefined || id === this.#deps.live().id) return undefined;
    const kept = await this.#deps.storage.findGeneration(id);
    if (kept === undefined) return undefined;
    const now = await this.base();
    if (this.#then?.kept !== id || this.#then?.now !== now) {
      void this.#then?.loaded.then((old) => old?.release());
      this.#then = { kept: id, now, loaded: this.workshop.loadKept(kept) };
    }
    const { generation, findings = [] } = (await this.#then.loaded) ?? {};
    return generation && { generation, findings };
  }

  /** The one explanation of a request. */
  async judge(request: HookRequest, work: JudgedWith): Promise<Judgement> {
    return judgementOf(await explainRequest(request, work));
  }

  /** The newest kept requests and all golden cases, judged with the files as they are and with the draft. */
  async impact(draft: ConsoleGeneration, signal: AbortSignal): Promise<Impact | undefined> {
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
    const workshop = this.#workshop;
    this.#workshop = undefined;
    this.#base = undefined;
    await (await this.#then?.loaded)?.release();
    this.#then = undefined;
    await workshop?.stop();
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
