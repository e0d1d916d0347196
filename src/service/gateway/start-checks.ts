/*
 * Who may start what (`startedBy`): the sender is asked about the account, after the event is stored and before anything
 * begins. What it says is kept for five minutes. A sender that cannot be asked is asked again, after pauses that grow to
 * a minute; the work waits meanwhile, for hours, and then ends as `not_allowed`. The process that leads asks, a few
 * questions at a time, so that strangers cost neither places of runs nor limits of mappings.
 */
import { type NotAllowed, notAllowedText, type StartQuestion } from '../../base/action.ts';
import { clearLine } from '../../base/telemetry/telemetry.ts';
import type { PermissionAnswer } from '../../engine/senders/senders.ts';
import type { AgentRun, StartDecision, StartResult } from '../../engine/storage/storage.ts';
import { UnderWay } from './cut-off.ts';
import type { GatewayContext } from './gateway-context.ts';
import { persist, repeatDelay } from './retry.ts';
import { makeCallback, type RunEnding } from './run-ending.ts';
import type { Waiters } from './waiters.ts';

const HOUR_MS = 3_600_000;
/** Questions that are under way at once. */
const MAX_AT_ONCE = 4;
const KEPT_MS = 300_000;
const MAX_KEPT = 10_000;

interface AwaySender {
  readonly sender: string;
  readonly tries: number;
  readonly until: number;
  readonly answer: Extract<PermissionAnswer, { readonly kind: 'unknown' }>;
}

/** Who is asked: mappings of one sender may have other tokens, and paths other servers. */
const askedOf = ({ sender, token }: StartQuestion, path: string): string =>
  JSON.stringify([sender, token, path]);

export class StartChecks extends UnderWay<{ readonly done: Promise<void> }> {
  readonly #context: GatewayContext;
  readonly #waiters: Waiters<RunEnding>;
  /** By mapping: when it was told that no further person is asked. */
  readonly #toldFullAt = new Map<string, number>();
  readonly #known = new Map<string, { readonly until: number; readonly answer: Promise<PermissionAnswer> }>();
  /** By whom is asked: those that cannot be. */
  readonly #away = new Map<string, AwaySender>();

  constructor(context: GatewayContext, waiters: Waiters<RunEnding>) {
    super();
    this.#context = context;
    this.#waiters = waiters;
  }

  /** Begins to decide about what is due: all that one request makes by one mapping together. */
  async check(): Promise<void> {
    if (this.tasks.size >= MAX_AT_ONCE) return;
    const due = await this.#context.storage.findUndecided(this.#context.now());
    const groups = Map.groupBy(due, ({ action: { origin } }) => `${origin.requestId} ${origin.mappingId}`);
    for (const [id, runs] of groups) {
      if (this.tasks.size >= MAX_AT_ONCE) return;
      if (this.tasks.has(id)) continue;
      const done = this.follow(this.#decide(runs), this.#context, { id, what: 'an event', fields: {} });
      this.tasks.set(id, { done });
    }
  }

  async #decide(runs: readonly AgentRun[]): Promise<void> {
    const [{ action, acceptedAt }] = runs as readonly [AgentRun];
    const { question, notAllowed } = action.startedBy ?? {};
    if (notAllowed !== undefined) return this.#refuse(runs, notAllowed);
    if (question === undefined) return void (await this.#settle(runs, { kind: 'allowed' }));
    const answer = await this.#ask(question, action.origin.path);
    const { account, wanted } = question;
    if (answer.kind === 'known') {
      if (answer.isEnough) return void (await this.#settle(runs, { kind: 'allowed' }));
      return this.#refuse(runs, { reason: 'permission', account, wanted, found: answer.found });
    }
    const { now, configuration } = this.#context;
    const { message } = answer;
    if (now() - acceptedAt >= configuration().settings.gateway.holdHours * HOUR_MS)
      return this.#refuse(runs, { reason: 'not_asked', account, wanted, found: message });
    const retryAt = this.#away.get(askedOf(question, action.origin.path))?.until ?? now();
    await this.#settle(runs, { kind: 'later', retryAt, message });
  }

  /** What a sender says, or has said within five minutes; one that cannot be asked is left alone for a while. */
  async #ask(question: StartQuestion, path: string): Promise<PermissionAnswer> {
    const { now, configuration, random, retry, alerts } = this.#context;
    const { sender, account, wanted, parts } = question;
    const asked = askedOf(question, path);
    const away = this.#away.get(asked);
    if (away !== undefined && away.until > now()) return away.answer;
    const key = JSON.stringify([asked, account.toLowerCase(), wanted, parts]);
    const known = this.#known.get(key);
    if (known !== undefined && known.until > now()) return known.answer;
    const asking = configuration().askPermission?.(question, path) ?? Promise.resolve(undefined);
    const answered = asking.then(
      (answer) => answer ?? ({ kind: 'unknown', message: `there is no token for ${sender}` } as const),
    );
    if (this.#known.size >= MAX_KEPT) this.#known.clear();
    this.#known.set(key, { until: now() + KEPT_MS, answer: answered });
    const answer = await answered;
    const subject = { kind: 'sender', name: sender } as const;
    if (answer.kind === 'known') {
      const isBack = this.#away.delete(asked);
      const others = [...this.#away.values()].filter((each) => each.sender === sender);
      if (isBack && others.length === 0) alerts.worked(subject);
      return answer;
    }
    this.#known.delete(key);
    const tries = (away?.tries ?? 0) + 1;
    const pauseMs = repeatDelay(retry.holds, tries, { retryAfterMs: answer.retryAfterMs, random: random() });
    this.#away.set(asked, { sender, tries, until: now() + pauseMs, answer });
    alerts.failed([subject], answer.message);
    return answer;
  }

  async #refuse(runs: readonly AgentRun[], why: NotAllowed): Promise<void> {
    const nowMs = this.#context.now();
    const error = { code: 'not_allowed', message: clearLine(notAllowedText(why)) };
    const ended = { state: 'completed', outcome: 'error', reply: '', error } as const;
    const endings = runs.map(({ id: runId, action }) => ({ ending: { runId, ...ended }, action }));
    const callbacks = endings.map(({ ending, action }) => makeCallback(action, ending, nowMs));
    const { account = '' } = why;
    const became = await this.#settle(runs, { kind: 'refused', account, error, callbacks });
    const { mappingId = '' } = runs[0]?.action.origin ?? {};
    if (became === 'full') this.#tellFull(mappingId, nowMs);
    if (became !== 'refused' && became !== 'full') return;
    for (const { ending } of endings) this.#waiters.settle(ending.runId, ending);
    this.#context.metrics?.observeRun({ runner: '', mappingId, result: error.code });
  }

  /** Strangers decide how many are left out: it is told once an hour, and not for each. */
  #tellFull(mappingId: string, nowMs: number): void {
    if (nowMs - (this.#toldFullAt.get(mappingId) ?? -Infinity) < HOUR_MS) return;
    this.#toldFullAt.set(mappingId, nowMs);
    this.#context.log.info(
      { mappingId },
      'an account that may not start this mapping is left out, and further ones of this hour without a line: people are asked once an hour about one account, and five times in all',
    );
  }

  #settle(runs: readonly AgentRun[], found: StartDecision): Promise<StartResult> {
    const { storage, now } = this.#context;
    const how = { what: 'who may start a run', signal: this.ended };
    const ids = runs.map(({ id }) => id);
    return persist(this.#context, how, () => storage.decideStart(ids, found, now()));
  }
}
