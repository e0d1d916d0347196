/** Asks senders for what they could not deliver, path by path, as long as the service lives. */
import { randomUUID } from 'node:crypto';
import type { Generation, PathRecovery } from '../generation/generation.ts';
import { hooksAddress } from '../../engine/config/config.ts';
import { InterfaceError } from '../../engine/senders/senders.ts';
import { readJson } from '../../base/json.ts';
import type { Storage } from '../../engine/storage/storage.ts';
import { codeOf, type HealthReporter, type Log } from '../../base/telemetry/telemetry.ts';
import { pause, WorkLoop } from '../../base/timers/timers.ts';
import type { OwnAnswer, OwnHook, RecoveredEvent } from '../server/server.ts';
import type { Asker } from './look.ts';
import { newState, NOTHING, recoverPath, RecoveryState, Wish } from './recover-path.ts';

export { newState, NOTHING, planRecovery, type RecoveryReport, recoverPath } from './recover-path.ts';

/** How soon the other services know what was asked for, where no notice reaches them. */
const REFRESH_MS = 2_000;

export interface RecoveryDeps {
  readonly storage: Storage;
  readonly generation: () => Generation;
  readonly deliver: (hook: OwnHook) => Promise<OwnAnswer>;
  readonly log: Log;
  readonly health: HealthReporter;
  /** Tells the operator, or that it is over; absent where nobody is told. */
  readonly alert?: (path: string, reason: string | undefined) => void;
}

/** Makes what a path is asked with. @throws InterfaceError where its token is not set */
export function askerOf(
  { config: { settings }, readReference }: Pick<Generation, 'config' | 'readReference'>,
  recovery: PathRecovery,
  signal: AbortSignal,
): Asker {
  const token = readReference(recovery.settings.token);
  if (token === undefined)
    throw new InterfaceError(
      'answer',
      'the token of recover is not set here: set its variable, or write its file',
    );
  const { publicUrl } = settings.server;
  const urlPath = `${settings.hooks.path}/${recovery.path}`;
  const url = publicUrl === undefined ? undefined : `${hooksAddress(publicUrl, settings)}/${recovery.path}`;
  const own = url === undefined ? urlPath : new URL(url).pathname;
  return { ...recovery, token: token.trim(), url, urlPath: own, signal };
}

/** Reads the row of a path, which may have none. */
export const readState = (text: string): RecoveryState =>
  RecoveryState.safeParse(readJson(text)).data ?? newState();

/** Has the service ask for what was missed, with a line of the audit; resolves to what its report is known by. */
export async function wantRecovery(
  { storage, who, source }: { readonly storage: Storage; readonly who: string; readonly source: string },
  path: string,
  wish: Omit<Wish, 'id'>,
): Promise<string> {
  const id = randomUUID();
  await storage.wantRecovery(path, JSON.stringify({ id, ...wish }));
  await storage.recordAudit({ at: Date.now(), who, source, what: 'recover', about: path, changed: 1 });
  return id;
}

interface KnownPath {
  state: RecoveryState;
  wanted: string;
  /** The token, target or file that the path was read from changes with the generation. */
  readonly recovery: PathRecovery;
  readonly stop: AbortController;
  awaited?: { readonly event: string; readonly arrived: () => void } | undefined;
  isBusy: boolean;
  /** When it is asked again; monotonic. */
  dueAt: number;
  readonly loop: WorkLoop;
}

export class Recovery {
  readonly #deps: RecoveryDeps;
  readonly #paths = new Map<string, KnownPath>();

  constructor(deps: RecoveryDeps) {
    this.#deps = deps;
    deps.storage.onOutsideChange(() => void this.#hear().catch(() => undefined));
  }

  /** Begins with the paths of the live generation, and ends with those that it does not have. */
  reconfigure(): void {
    const { recoveries } = this.#deps.generation();
    for (const [path, { stop, recovery, loop }] of this.#paths) {
      if (recoveries.get(path) === recovery) continue;
      stop.abort();
      void loop.stop();
      this.#paths.delete(path);
      this.#say(path, undefined, undefined);
    }
    for (const [path, recovery] of recoveries) {
      if (this.#paths.has(path)) continue;
      const loop = new WorkLoop(
        () => this.#pass(known),
        (error) => this.#deps.log.error({ path, code: codeOf(error) }, 'a recovery failed; trying again'),
      );
      const begun = { state: newState(), wanted: '', isBusy: false, dueAt: 0 };
      const known: KnownPath = { recovery, stop: new AbortController(), loop, ...begun };
      this.#paths.set(path, known);
      loop.start();
    }
  }

  /** An event that was asked for, where this is one. */
  recovered(path: string, event: string): RecoveredEvent | undefined {
    const known = this.#paths.get(path);
    const asked = known?.state.asked[event];
    if (known === undefined || asked === undefined || asked.end !== undefined) return undefined;
    const { at: missedAt, host } = asked;
    return {
      mark: { missedAt, ...(host === undefined ? {} : { fetchedFrom: host }) },
      ended: () => {
        if (known.awaited?.event === event) known.awaited.arrived();
      },
    };
  }

  /** How the recovery of each path goes, for the metrics. */
  figures() {
    return [...this.#paths].flatMap(([path, { state }]) => {
      const { upTo, totals, lookedAt, unwell } = state;
      return upTo === 0 ? [] : [{ path, ...totals, lookedAt, isWell: unwell === undefined }];
    });
  }

  async stop(): Promise<void> {
    const running = [...this.#paths.values()];
    for (const { stop } of running) stop.abort();
    await Promise.all(running.map(({ loop }) => loop.stop()));
  }

  async #hear(): Promise<void> {
    await this.#readWishes();
    for (const { wanted, loop } of this.#paths.values()) if (wanted !== '') loop.wake();
  }

  async #readWishes(): Promise<void> {
    if (this.#paths.size === 0) return;
    for (const { path, state, wanted } of await this.#deps.storage.listRecoveries()) {
      const known = this.#paths.get(path);
      if (known === undefined) continue;
      known.wanted = wanted;
      // Whoever does not lead knows from the store what is asked for.
      if (!known.isBusy) known.state = readState(state);
    }
  }

  /** Asks where it is due, or somebody wants it; resolves to how long nothing else is. */
  async #pass(known: KnownPath): Promise<number> {
    const { path, settings } = known.recovery;
    if (!(await this.#lead(path))) return REFRESH_MS;
    if (known.wanted !== '' || performance.now() >= known.dueAt) {
      await this.#round(known);
      known.dueAt = performance.now() + settings.everySeconds * 1000;
    }
    return Math.max(known.dueAt - performance.now(), 0);
  }

  /** Whether this service has the recovery of the path; what was stored of it is then known. */
  async #lead(path: string): Promise<boolean> {
    const { storage } = this.#deps;
    try {
      const leads = storage.lease?.isHeld !== false && (await storage.leadRecovery(path));
      await this.#readWishes();
      return leads;
    } catch {
      // The store says itself that it is away.
      return false;
    }
  }

  async #round(known: KnownPath): Promise<void> {
    const { recovery, stop, wanted, state } = known;
    const { storage, deliver, log, generation } = this.#deps;
    const { path } = recovery;
    const wish = wanted === '' ? undefined : Wish.safeParse(readJson(wanted)).data;
    const isOver = (): boolean => stop.signal.aborted || storage.lease?.isHeld === false;
    const save = async (done?: string): Promise<void> => {
      // Another service may have it now.
      if (isOver()) throw new Error('the recovery of this path is over here');
      await storage.keepRecovery(path, JSON.stringify(state), done);
    };
    known.isBusy = true;
    try {
      await recoverPath(askerOf(generation(), recovery, stop.signal), state, {
        storage,
        wish,
        save,
        // The other services read the state once in this time; before that they would not know an event as recovered.
        othersKnow: () =>
          storage.lease === undefined ? Promise.resolve() : pause(1.5 * REFRESH_MS, stop.signal),
        deliver,
        arrival: (event) => new Promise<void>((arrived) => (known.awaited = { event, arrived })),
        gaveUp: (event) => log.warn({ path, event }, 'an event was asked for three times and did not come'),
      });
      await save(wanted);
      this.#say(path, state, state.last.trouble);
    } catch (error) {
      if (isOver()) return;
      const trouble = error instanceof InterfaceError ? error.message : `it failed: ${codeOf(error)}`;
      this.#say(path, state, trouble);
      // What was done until then stays stored; whoever wished for it reads why it has ended.
      const begun = state.last.isEnded ? { ...NOTHING, since: state.upTo || Date.now() } : state.last;
      state.last = { ...begun, wanted: wish?.id ?? '', isEnded: true, trouble };
      await save(wanted).catch(() => undefined);
    } finally {
      known.isBusy = false;
      known.awaited = undefined;
    }
  }

  /** Tells what is wrong with the recovery of a path, and with its webhook. */
  #say(path: string, state: RecoveryState | undefined, trouble: string | undefined): void {
    const { health, alert } = this.#deps;
    const off =
      state?.unwell === undefined
        ? undefined
        : `the sender says "${state.unwell}" of the webhook and may send nothing more: switch it on there`;
    for (const [code, message] of [
      ['recovery_stuck', trouble],
      ['webhook_off', off],
    ] as const) {
      if (message === undefined) health.clear({ code, name: path });
      else health.raise({ code, name: path, message });
    }
    alert?.(path, off ?? trouble);
  }
}
