/*
 * Runs that workers carry: other machines that ask for them, renew their lease and hand over how they ended.
 *
 * All that is known of such a run stands in the store, so that any service may answer its worker, also after a restart. A
 * worker that is silent until its lease is over is treated as a crash of the service is (`retry.afterCrash`). Its attempt is
 * not forgotten: while no other one has begun, it may go on, and its end is taken however late it comes. Nobody is called
 * silent by a service that could not have heard of it: one that has just started, or had stood still.
 */
import type * as z from 'zod';
import { HookError } from '../../base/errors.ts';
import { defined } from '../../base/json.ts';
import { codeOf } from '../../base/telemetry/telemetry.ts';
import type { AgentRun, ClaimRunsOptions } from '../../engine/storage/storage.ts';
import { type GivenRun, workerProtocol, type WorkerQuestion } from '../runners/runners.ts';
import { ENDED_BEFORE } from './after-crash.ts';
import type { GatewayContext } from './gateway-context.ts';
import type { RunAttempts } from './run-attempts.ts';
import { makeRunTurn, targetOf, timeoutOf, withJoinedEvents } from './run-turn.ts';
import { NO_WORKER } from './runner-holds.ts';
import { Waiters } from './waiters.ts';

const { takeSchema, renewSchema, endSchema, givenTurn } = workerProtocol;

const LOOK_EVERY_MS = 1_000;
/** A service that did not look for this long stood still, or its store did. */
const STOOD_STILL_MS = 5_000;
const LOOK_FOR_AWAY_MS = 10_000;
/** Runs wait for a worker that did not ask for this long: it is reported as away. */
const AWAY_AFTER_MS = 300_000;
const DEFAULT_LEASE_MS = 60_000;
const MAX_WAIT_MS = 60_000;
/** Runs whose late ends are remembered: a worker that got no answer sends an end again, and soon. */
const MAX_LATE = 1_000;
/** A turn that goes on this long after its time is to end. */
const OVERTIME_MS = 30_000;

type WorkerEnd = z.output<typeof endSchema>;
type Lease = Omit<NonNullable<ClaimRunsOptions['worker']>, 'until'>;

export class WorkerRuns {
  readonly #context: GatewayContext;
  readonly #attempts: RunAttempts;
  readonly #startedAt: number;
  /** Questions for runs, by runner: they look when there may be some. */
  readonly #waiting = new Waiters<true>();
  /** Ends that are being stored, by attempt: a worker that sends its end again waits for the same. */
  readonly #ends = new Map<string, Promise<void>>();
  /** Attempts whose end came too late and is in the audit, by run. */
  readonly #late = new Map<string, Set<string>>();
  #lookedAt = -Infinity;
  #judgesFrom = Infinity;
  #nextAwayLookAt = 0;

  constructor(context: GatewayContext, attempts: RunAttempts) {
    this.#context = context;
    this.#attempts = attempts;
    this.#startedAt = context.now();
  }

  /**
   * Answers a worker that has proved itself.
   * @throws HookError `invalid_body`, `not_found`, `attempt_over`
   */
  async answer(question: WorkerQuestion): Promise<object> {
    const { runner, action, body, runId = '' } = question;
    if (action === 'take') return this.#take(question);
    const end = action === 'finish' ? read(endSchema, body) : undefined;
    const { attempt } = end ?? read(renewSchema, body);
    const found = await this.#context.storage.findRun(runId);
    const run = found?.kind === 'hook' && found.action.kind === 'agent' ? (found as AgentRun) : undefined;
    if (run === undefined || this.#targetOf(run).runner !== runner)
      throw new HookError('not_found', 'no run of this runner has this id');
    if (run.carried?.attempt !== attempt) return this.#refuse(run, { attempt, end });
    return end === undefined ? this.#renew(run, attempt) : this.#finish(run, end);
  }

  #targetOf = ({ action }: AgentRun) => targetOf(action, this.#context.configuration().settings);

  #leaseMs(runner: string): number {
    const settings = this.#context.configuration().settings.gateway.runners[runner];
    return settings?.kind === 'worker' ? settings.leaseSeconds * 1000 : DEFAULT_LEASE_MS;
  }

  async #take({ runner, body, signal }: WorkerQuestion): Promise<object> {
    const { worker, waitSeconds, attempt = this.#context.nonce(), access } = read(takeSchema, body);
    const lease = { runner, worker: worker || runner, attempt, access };
    await this.#noteSeen(lease);
    const endsAt = performance.now() + Math.min(waitSeconds * 1000, MAX_WAIT_MS);
    let run = await this.#claim(lease);
    while (run === undefined && (await this.#waiting.wait(runner, endsAt - performance.now(), signal)))
      run = await this.#claim(lease);
    // Where there was one, there may be more.
    if (run !== undefined) this.#waiting.settle(runner, true, 1);
    if (run !== undefined && signal.aborted) await this.#takeBack(run.id);
    return { ok: true, runner, run: run ?? null };
  }

  /** There may be runs: of each runner the worker that waits longest looks. */
  give(): void {
    for (const runner of this.#waiting.names) this.#waiting.settle(runner, true, 1);
  }

  async #noteSeen({ runner, worker }: Pick<Lease, 'runner' | 'worker'>): Promise<void> {
    const { storage, holds, alerts, now } = this.#context;
    await storage.noteWorker({ runner, name: worker, seenAt: now() });
    if (await holds.endAway(runner)) alerts.worked({ kind: 'runner', name: runner });
  }

  /** Claims a run and makes its turn; undefined where none may begin. */
  async #claim(lease: Lease): Promise<GivenRun | undefined> {
    const { storage, now, holds, log, configuration } = this.#context;
    const { limits, settings, runners } = configuration();
    const { runner: name, attempt } = lease;
    const [runner, own] = [runners.get(name), settings.gateway.runners[name]];
    if (runner === undefined || own?.kind !== 'worker' || holds.limits(() => 0).get(name) === 0)
      return undefined;
    const { leaseSeconds, maxReplyBytes, maxRuns } = own;
    for (;;) {
      const [claimed] = await storage.claimRuns({
        nowMs: now(),
        limit: 1,
        defaultRunner: settings.gateway.runner,
        ...defined({ limits }),
        ...(maxRuns !== undefined && { maxPerRunner: new Map([[name, maxRuns]]) }),
        worker: { ...lease, until: now() + leaseSeconds * 1000 },
      });
      if (claimed === undefined) return undefined;
      const run = withJoinedEvents(claimed);
      if (await this.#attempts.isPutOff(run, this.#targetOf(run))) continue;
      try {
        const turn = givenTurn(await makeRunTurn(run, runner, { settings, storage }));
        log.info({ runId: run.id, runner: name, worker: lease.worker }, 'a worker took a run');
        const folder = run.action.cwd;
        return { id: run.id, attempt, leaseSeconds, maxReplyBytes, ...defined({ folder }), turn };
      } catch (error) {
        log.error({ runId: run.id, code: codeOf(error) }, 'a run could not be prepared');
        await this.#attempts.putBack(run, ENDED_BEFORE);
        return undefined;
      }
    }
  }

  /** Nobody waits any more for what was claimed. */
  async #takeBack(runId: string): Promise<void> {
    const run = await this.#context.storage.findRun(runId);
    if (run?.action.kind === 'agent') await this.#attempts.putBack(run as AgentRun, ENDED_BEFORE);
  }

  async #renew(run: AgentRun, attempt: string): Promise<object> {
    const { storage, now, configuration } = this.#context;
    const { runner } = this.#targetOf(run);
    const { startedAt = Infinity, carried: { worker = runner, until = 0 } = {} } = run;
    const endsAt = startedAt + timeoutOf(run.action, configuration().settings) * 1000 + OVERTIME_MS;
    if (until > now() && now() > endsAt) await storage.endCarriedRuns([run.id], 'timeout');
    const leaseMs = this.#leaseMs(runner);
    const lease = { attempt, until: now() + leaseMs, nowMs: now() };
    const renewed = await storage.renewRun(run.id, lease);
    if (renewed === undefined) return this.#refuse(run, { attempt });
    await this.#noteSeen({ runner, worker });
    return { ok: true, leaseSeconds: leaseMs / 1000, ...renewed };
  }

  async #finish(run: AgentRun, end: WorkerEnd): Promise<object> {
    const { storage, log } = this.#context;
    const { attempt } = end;
    if (run.carried?.until === 0) return { ok: true };
    const storing =
      this.#ends.get(attempt) ?? this.#store(run, end).finally(() => this.#ends.delete(attempt));
    this.#ends.set(attempt, storing);
    await storing;
    const { carried } = (await storage.findRun(run.id)) ?? {};
    if (carried?.attempt !== attempt || carried.until !== 0) return this.#refuse(run, { attempt, end });
    log.info({ runId: run.id, worker: carried.worker }, 'a worker handed over the end of a run');
    return { ok: true };
  }

  async #store(run: AgentRun, end: WorkerEnd): Promise<void> {
    const { now, holds, wake } = this.#context;
    const joined = withJoinedEvents(run);
    if (end.kind === 'interrupted') return this.#attempts.lost(joined);
    // The worker ended before it began: with a delay, later runs of the conversation would overtake this one.
    if (end.kind === 'not-started' && end.code === ENDED_BEFORE.code)
      return this.#attempts.putBack(joined, end);
    const tookMs = Math.round(now() - (run.startedAt ?? now()));
    const result =
      end.kind === 'completed'
        ? { ...end, outcome: end.outcome ?? (end.error === undefined ? ('ok' as const) : ('error' as const)) }
        : end;
    await this.#attempts.settle(joined, result, { tookMs, end: run.carried?.end });
    if (end.kind === 'completed') holds.worked(this.#targetOf(run));
    wake();
  }

  /** Another attempt has begun, or the run has ended otherwise. An end that is not taken is kept in the audit. */
  async #refuse(
    { id: runId, attempts }: AgentRun,
    { attempt, end }: { readonly attempt: string; readonly end?: WorkerEnd | undefined },
  ): Promise<never> {
    if (this.#late.size > MAX_LATE) this.#late.clear();
    const noted = this.#late.get(runId) ?? new Set();
    // Whoever makes attempts up must not push the audit of operators out.
    if (end !== undefined && !noted.has(attempt) && noted.size <= attempts) {
      this.#late.set(runId, noted.add(attempt));
      const about = `run ${runId}, attempt ${attempt}`;
      const record = { who: 'worker', source: 'workers', what: 'late end', about, changed: 0 };
      await this.#context.storage.recordAudit({ at: Date.now(), ...record });
      this.#context.log.warn({ runId }, 'the end of a run came after another one, and is not delivered');
    }
    throw new HookError(
      'attempt_over',
      'the run has ended, or another attempt at it has begun: end this one',
    );
  }

  /** Decides about runs whose worker is silent, and says where nobody asks for runs that wait. */
  async look(): Promise<void> {
    const { storage, now } = this.#context;
    const nowMs = now();
    if (nowMs - this.#lookedAt < LOOK_EVERY_MS) return;
    const hasLapsed = await storage.hasLapsedRuns(nowMs);
    if (nowMs - this.#lookedAt > STOOD_STILL_MS) {
      const leases = this.#runners().map((name) => this.#leaseMs(name));
      this.#judgesFrom = nowMs + (leases.length === 0 ? DEFAULT_LEASE_MS : Math.max(...leases));
    }
    this.#lookedAt = nowMs;
    if (hasLapsed && nowMs >= this.#judgesFrom)
      for (const run of await storage.takeLapsedRuns(nowMs)) await this.#attempts.afterCrash(run);
    if (nowMs < this.#nextAwayLookAt) return;
    this.#nextAwayLookAt = nowMs + LOOK_FOR_AWAY_MS;
    await this.#lookForAway(nowMs);
  }

  #runners(): readonly string[] {
    const { runners } = this.#context.configuration().settings.gateway;
    return Object.keys(runners).filter((name) => runners[name]?.kind === 'worker');
  }

  async #lookForAway(nowMs: number): Promise<void> {
    const { storage, holds, alerts, configuration, metrics } = this.#context;
    const names = this.#runners();
    const { runner: defaultRunner } = configuration().settings.gateway;
    const listed = names.length === 0 ? [] : await storage.listWorkers(defaultRunner);
    const all = listed.filter(({ runner }) => names.includes(runner));
    metrics?.setWorkers(all.filter(({ seenAt, runs }) => runs > 0 || nowMs - seenAt < AWAY_AFTER_MS));
    for (const name of names) {
      const since = all.find(({ runner }) => runner === name)?.seenAt ?? this.#startedAt;
      if (nowMs - Math.max(since, this.#startedAt) < AWAY_AFTER_MS || holds.isAway(name)) continue;
      const waiting = await storage.countWaitingFor(name, defaultRunner);
      if (waiting === 0) continue;
      const message = `no worker has asked for its runs since ${new Date(since).toISOString()}`;
      await holds.hold(
        { runner: name, model: undefined },
        { code: NO_WORKER, message, affects: 'runner', since },
      );
      alerts.failed([{ kind: 'runner', name }], `${NO_WORKER}: ${message}`, { isAtOnce: true });
    }
  }

  /** Answers all who wait, and waits for the ends that are being stored. */
  async stop(): Promise<void> {
    this.#waiting.stop();
    await Promise.allSettled(this.#ends.values());
  }
}

function read<Schema extends z.ZodType>(schema: Schema, body: unknown): z.output<Schema> {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const where = issue?.path.join('.') || 'the body';
  throw new HookError('invalid_body', `${where}: ${(issue?.message ?? '').slice(0, 200)}`);
}
