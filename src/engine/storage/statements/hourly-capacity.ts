/*
 * How many runs of a mapping may still begin. The hour slides: what counts is what began within the last 60 minutes,
 * one row of `run_starts` each, written by the claim itself. Only mappings that have limits leave rows there, and, as
 * `?ID`, questions to people. What a mapping may spend in a day (UTC) is judged by what its turns cost that have ended.
 */
import type { LimitRules, RunLimits, TokenUsage } from '../records.ts';
import { both, listed, type Statements } from './statements.ts';
import type { RunHead } from './rows.ts';
import type { Store } from './store.ts';

export const DAY_MS = 86_400_000;
const ADD = `INSERT INTO costs (day, mapping_id, runner, turns, input_tokens, output_tokens, micro_usd, cost_unknown)
  VALUES (?, ?, ?, 1, ?, ?, ?, ?) ON CONFLICT (day, mapping_id, runner) DO UPDATE SET turns = costs.turns + 1,
    input_tokens = costs.input_tokens + excluded.input_tokens,
    output_tokens = costs.output_tokens + excluded.output_tokens, micro_usd = costs.micro_usd + excluded.micro_usd,
    cost_unknown = costs.cost_unknown + excluded.cost_unknown`;

const ADD_RECENT = `INSERT INTO recent_costs (minute, mapping_id, input_tokens, output_tokens, micro_usd)
  VALUES (?, ?, ?, ?, ?) ON CONFLICT (minute, mapping_id) DO UPDATE SET
    input_tokens = recent_costs.input_tokens + excluded.input_tokens,
    output_tokens = recent_costs.output_tokens + excluded.output_tokens,
    micro_usd = recent_costs.micro_usd + excluded.micro_usd`;
const FORGET_RECENT = 'DELETE FROM recent_costs WHERE minute <= ?';

/** The last minute that is more than a day ago. */
export const dayBefore = (ms: number): number => Math.floor((ms - DAY_MS) / 60_000);

export const dayOf = (ms: number): number => Math.floor(ms / DAY_MS);

export const startOfDay = (day: number): number => day * DAY_MS;

interface TurnUsage {
  readonly mappingId: string;
  readonly runner: string | undefined;
  readonly usage: TokenUsage | undefined;
  readonly nowMs: number;
}

/** Counts what a turn used, in the transaction of its end. */
export function addCost({ sql }: Store, { mappingId, runner = '', usage, nowMs }: TurnUsage): void {
  if (usage === undefined) return;
  const { inputTokens = 0, outputTokens = 0, costUsd = 0, isCostUnknown = false } = usage;
  const counts = [inputTokens, outputTokens, costUsd * 1_000_000, Number(isCostUnknown)].map(Math.round);
  sql.post(ADD, dayOf(nowMs), mappingId, runner, ...counts);
  sql.post(ADD_RECENT, Math.floor(nowMs / 60_000), mappingId, ...counts.slice(0, 3));
  sql.post(FORGET_RECENT, dayBefore(nowMs));
}

const HOUR_MS = 3_600_000;

// What lies ahead was written under a clock that was set back since.
const WITHIN = 'mapping_id = ? AND started_at > ? AND started_at <= ?';
const BEGUN = `SELECT count(*) AS count FROM run_starts WHERE ${WITHIN}`;
const SPENT = `SELECT CAST(coalesce(sum(micro_usd), 0) AS BIGINT) AS "microUsd" FROM costs WHERE day = ? AND mapping_id = ?`;
const NTH_NEWEST = `SELECT started_at AS at FROM run_starts WHERE ${WITHIN} ORDER BY started_at DESC LIMIT 1 OFFSET ?`;
const FULL_LINES = `SELECT line, min(started_at) + ${HOUR_MS} AS "freeAt" FROM run_starts WHERE ${WITHIN} AND line IS NOT NULL
  GROUP BY line HAVING count(*) >= ?`;
const NOTE = both`INSERT INTO run_starts (run_seq, mapping_id, line, started_at)
  SELECT seq, mapping_id, line, started_at FROM runs WHERE seq IN ${listed('?', 'bigint')}
  ON CONFLICT (run_seq, started_at) DO NOTHING`;
/** Questions to people for one mapping within an hour. */
const MAX_QUESTIONS = 5;
const QUESTIONS = `SELECT count(*) AS "all", coalesce(sum(CASE WHEN line = ? THEN 1 ELSE 0 END), 0) AS same
  FROM run_starts WHERE ${WITHIN}`;
const NOTE_QUESTION = `INSERT INTO run_starts (run_seq, mapping_id, line, started_at) VALUES (?, ?, ?, ?)
  ON CONFLICT (run_seq, started_at) DO NOTHING`;
const FORGET_OLD = 'DELETE FROM run_starts WHERE started_at <= ?';
const FORGET =
  'DELETE FROM run_starts WHERE run_seq = ? AND started_at = (SELECT started_at FROM runs WHERE seq = ?)';

/** The limits of one mapping; undefined where it has none. */
export function limitsOf(rules: LimitRules | undefined, mappingId: string): RunLimits | undefined {
  if (rules === undefined || mappingId === '') return undefined;
  return rules.byMapping.get(mappingId) ?? rules.default;
}

/** A conversation at its limit. */
interface FullLine {
  readonly line: string;
  readonly freeAt: number;
}

export class HourlyCapacity {
  readonly #sql: Statements;
  readonly #rules: LimitRules | undefined;
  readonly #nowMs: number;
  readonly #left = new Map<string, number>();
  readonly #full = new Map<string, readonly FullLine[]>();

  constructor(sql: Statements, rules: LimitRules | undefined, nowMs: number) {
    this.#sql = sql;
    this.#rules = rules;
    this.#nowMs = Math.round(nowMs);
  }

  /** Whether starts of the mapping are counted. */
  isLimited(mappingId: string): boolean {
    const { runsPerHour, runsPerHourAndSession } = limitsOf(this.#rules, mappingId) ?? {};
    return runsPerHour !== undefined || runsPerHourAndSession !== undefined;
  }

  /** When the mapping may spend again; undefined where it may now. */
  spentUntil(mappingId: string): number | undefined {
    const { usdPerDay } = limitsOf(this.#rules, mappingId) ?? {};
    if (usdPerDay === undefined) return undefined;
    const day = dayOf(this.#nowMs);
    const { microUsd = 0 } = this.#sql.find<{ microUsd: number }>(SPENT, day, mappingId) ?? {};
    return microUsd < usdPerDay * 1_000_000 ? undefined : startOfDay(day + 1);
  }

  left(mappingId: string): number {
    const known = this.#left.get(mappingId);
    if (known !== undefined) return known;
    const left = this.spentUntil(mappingId) === undefined ? this.#leftOfHour(mappingId) : 0;
    this.#left.set(mappingId, left);
    return left;
  }

  #leftOfHour(mappingId: string): number {
    const limit = limitsOf(this.#rules, mappingId)?.runsPerHour;
    if (limit === undefined) return Infinity;
    const { count = 0 } = this.#sql.find<{ count: number }>(BEGUN, ...hourOf(mappingId, this.#nowMs)) ?? {};
    return Math.max(0, limit - count);
  }

  take(mappingId: string): void {
    this.#left.set(mappingId, this.left(mappingId) - 1);
  }

  /** When `left` will not be 0 any more. */
  freeAt(mappingId: string): number | undefined {
    const limit = limitsOf(this.#rules, mappingId)?.runsPerHour;
    if (limit === undefined) return undefined;
    const nth = this.#sql.find<{ at: number }>(NTH_NEWEST, ...hourOf(mappingId, this.#nowMs), limit - 1);
    return nth && nth.at + HOUR_MS;
  }

  /** Conversations of the mapping of which no run may begin now, each with the time from which one may. */
  fullLines(mappingId: string): readonly FullLine[] {
    const known = this.#full.get(mappingId);
    if (known !== undefined) return known;
    const limit = limitsOf(this.#rules, mappingId)?.runsPerHourAndSession;
    const lines: readonly FullLine[] =
      limit === undefined ? [] : this.#sql.all(FULL_LINES, ...hourOf(mappingId, this.#nowMs), limit);
    this.#full.set(mappingId, lines);
    return lines;
  }
}

const hourOf = (mappingId: string, nowMs: number) => [mappingId, nowMs - HOUR_MS, nowMs + HOUR_MS] as const;

/** Notes that runs begin, with the time that stands in their rows. */
export function noteStarts(sql: Statements, seqs: readonly number[], nowMs: number): void {
  if (seqs.length === 0) return;
  sql.post(FORGET_OLD, Math.round(nowMs) - HOUR_MS);
  sql.post(NOTE, JSON.stringify(seqs));
}

/** A run that was claimed did not begin after all. */
export function forgetStart(sql: Statements, seq: number): void {
  sql.post(FORGET, seq, seq);
}

/**
 * Counts a question to people about an account, where there is room for one within the hour: as a run that begins, under
 * an id that no mapping has, with the account in place of the conversation.
 */
export function takeQuestion(
  sql: Statements,
  { seq, mappingId }: RunHead,
  { account, nowMs }: { readonly account: string; readonly nowMs: number },
): boolean {
  const id = `?${mappingId}`;
  const line = account.toLowerCase();
  const asked = sql.find<{ all: number; same: number }>(QUESTIONS, line, ...hourOf(id, nowMs));
  if (asked === undefined || asked.same > 0 || asked.all >= MAX_QUESTIONS) return false;
  sql.post(FORGET_OLD, nowMs - HOUR_MS);
  sql.post(NOTE_QUESTION, seq, id, line, nowMs);
  return true;
}
