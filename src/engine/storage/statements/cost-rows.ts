import type { TokenUsage } from '../records.ts';
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

/** When a day begins. */
export const startOfDay = (day: number): number => day * DAY_MS;

interface Used {
  readonly mappingId: string;
  readonly runner: string | undefined;
  readonly usage: TokenUsage | undefined;
  readonly nowMs: number;
}

/** Counts what a turn used, in the transaction of its end. */
export function addCost({ sql }: Store, { mappingId, runner = '', usage, nowMs }: Used): void {
  if (usage === undefined) return;
  const { inputTokens = 0, outputTokens = 0, costUsd = 0, isCostUnknown = false } = usage;
  const counts = [inputTokens, outputTokens, costUsd * 1_000_000, Number(isCostUnknown)].map(Math.round);
  sql.post(ADD, dayOf(nowMs), mappingId, runner, ...counts);
  sql.post(ADD_RECENT, Math.floor(nowMs / 60_000), mappingId, ...counts.slice(0, 3));
  sql.post(FORGET_RECENT, dayBefore(nowMs));
}
