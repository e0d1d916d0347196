/**
 * What is wrong with a running service, in one table. A part that is in trouble raises its condition and clears it
 * when it is well again; the log says both once. Nobody asks the parts: readiness is read from here.
 */
import type { Log } from './log.ts';

interface HealthEffect {
  readonly effect: 'unready' | 'degraded';
  readonly title: string;
  /** The log's word for its end; default `recovered`. */
  readonly over?: string;
}

/**
 * Every condition. `unready`: the service cannot take requests, `/readyz` answers 503. `degraded`: it goes on without
 * something, `/readyz` answers 200 and lists it.
 */
export const HEALTH_CONDITIONS = {
  stopping: { effect: 'unready', title: 'the service is stopping' },
  store_cannot_accept: { effect: 'unready', title: 'the store cannot take requests' },
  lease_lost: {
    effect: 'degraded',
    title: 'this service cannot prove to the others that it lives; it performs nothing',
  },
  store_replaced: { effect: 'unready', title: 'the file of the store was moved or replaced' },
  transforms_cannot_run: { effect: 'unready', title: 'the processes that run transforms do not start' },
  reload_rejected: {
    effect: 'degraded',
    title: 'the last reload was rejected; the settings before it are live',
    over: 'the files have no error any more, and are live',
  },
  mapping_out: {
    effect: 'degraded',
    title: 'a mapping of an OpenClaw file has errors; its requests are answered 503',
  },
  transform_failing: {
    effect: 'degraded',
    title: 'a transform failed too often and is not called for a while',
  },
  runner_away: { effect: 'degraded', title: 'a runner cannot be reached; its runs wait' },
  mapping_limited: { effect: 'degraded', title: 'a mapping is at a limit of its own; its runs wait' },
  queue_paused: { effect: 'degraded', title: 'somebody paused runs; they wait' },
  mailbox_away: { effect: 'degraded', title: 'a mailbox cannot be reached' },
  mailbox_login_refused: { effect: 'degraded', title: 'the server of a mailbox refuses the login' },
  mail_refused: { effect: 'degraded', title: 'new mail waits, because the service takes none of it' },
  recovery_stuck: {
    effect: 'degraded',
    title: 'a sender cannot be asked for what it could not deliver',
  },
  webhook_off: { effect: 'degraded', title: 'a sender has switched a webhook off, or is about to' },
  not_configured: { effect: 'degraded', title: 'a path lacks a secret; its requests are refused' },
} as const satisfies Record<string, HealthEffect>;

export type HealthCode = keyof typeof HEALTH_CONDITIONS;

interface Trouble {
  readonly code: HealthCode;
  /** What is in trouble: the id of a runner, a channel, a module; empty where there is only one of its kind. */
  readonly name?: string;
  /** What is wrong and what to do; no secret, nothing of a payload. */
  readonly message: string;
}

/** Where parts of the service report. */
export interface HealthReporter {
  /** Says that something is in trouble. Repeats count as one; the newest message counts. */
  raise(trouble: Trouble): void;
  /** Says that something is well again; does nothing where it was never in trouble. */
  clear(which: Pick<Trouble, 'code' | 'name'>): void;
  /** Says what is in this trouble now: those named are raised, all others of the code are cleared. */
  replace(code: HealthCode, troubles: readonly Omit<Trouble, 'code'>[]): void;
}

/** All troubles of one code. */
interface Condition {
  readonly code: HealthCode;
  /** When the oldest of them began; milliseconds since the epoch. */
  readonly since: number;
  readonly count: number;
  readonly details: readonly { readonly name: string; readonly message: string; readonly since: number }[];
}

export interface Health extends HealthReporter {
  /** Empty where the service takes requests. */
  unready(): readonly Condition[];
  degraded(): readonly Condition[];
}

export interface HealthOptions {
  readonly log: Pick<Log, 'warn' | 'info'>;
  /** Milliseconds since the epoch; default `Date.now`. */
  readonly clock?: () => number;
}

/** Further names of one code are not counted. */
const MAX_NAMES = 1_000;

interface KnownTrouble {
  readonly since: number;
  message: string;
}

/** What is in trouble now, by code and name. */
interface TroubleTable extends Required<HealthOptions> {
  readonly troubles: Map<HealthCode, Map<string, KnownTrouble>>;
}

export function createHealth({ log, clock = Date.now }: HealthOptions): Health {
  const troubles: TroubleTable['troubles'] = new Map();
  const table: TroubleTable = { troubles, log, clock };
  return {
    raise: (trouble) => raise(table, trouble),
    clear: (which) => clear(table, which),
    replace: (code, now) => {
      const names = new Set(now.map(({ name = '' }) => name));
      for (const name of troubles.get(code)?.keys() ?? []) if (!names.has(name)) clear(table, { code, name });
      for (const trouble of now) raise(table, { code, ...trouble });
    },
    unready: () => conditionsOf(troubles, 'unready'),
    degraded: () => conditionsOf(troubles, 'degraded'),
  };
}

function raise({ troubles, log, clock }: TroubleTable, { code, name = '', message }: Trouble): void {
  const named = troubles.get(code) ?? new Map<string, KnownTrouble>();
  const known = named.get(name);
  if (known !== undefined) known.message = message;
  if (known !== undefined || named.size >= MAX_NAMES) return;
  troubles.set(code, named.set(name, { since: clock(), message }));
  const { effect, title } = HEALTH_CONDITIONS[code];
  log.warn({ condition: code, ...nameField(name), effect, detail: message }, title);
}

function clear(
  { troubles, log, clock }: TroubleTable,
  { code, name = '' }: Pick<Trouble, 'code' | 'name'>,
): void {
  const named = troubles.get(code);
  const known = named?.get(name);
  if (named === undefined || known === undefined) return;
  named.delete(name);
  const afterSeconds = Math.max(0, clock() - known.since) / 1000;
  const { over = 'recovered' }: HealthEffect = HEALTH_CONDITIONS[code];
  log.info({ condition: code, ...nameField(name), afterSeconds }, over);
}

function nameField(name: string): { readonly name?: string } {
  return name === '' ? {} : { name };
}

function conditionsOf(
  troubles: ReadonlyMap<HealthCode, ReadonlyMap<string, KnownTrouble>>,
  effect: 'unready' | 'degraded',
): readonly Condition[] {
  const conditions: Condition[] = [];
  for (const code of Object.keys(HEALTH_CONDITIONS) as HealthCode[]) {
    const named = troubles.get(code);
    if (named === undefined || named.size === 0 || HEALTH_CONDITIONS[code].effect !== effect) continue;
    const details = [...named].map(([name, { since, message }]) => ({ name, message, since }));
    const since = Math.min(...details.map((detail) => detail.since));
    conditions.push({ code, since, count: details.length, details });
  }
  return conditions;
}
