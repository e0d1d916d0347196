import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Action, AgentAction, SafeText, WakeAction } from '../../src/base/action.ts';
import type { GatewaySettings, RunnerSettings, Settings } from '../../src/engine/config/config.ts';
import {
  createEchoRunner,
  type Runner,
  type RunnerOptions,
  type Turn,
  type TurnResult,
} from '../../src/service/runners/runners.ts';
import {
  Gateway,
  type GatewayConfiguration,
  type GatewayOptions,
} from '../../src/service/gateway/gateway.ts';
import type { ChannelAdapter, ChannelMessage, SendResult } from '../../src/service/channels/channels.ts';
import { openStorage, type LimitRules, type Storage } from '../../src/engine/storage/storage.ts';
import type { GatewayMetrics } from '../../src/base/telemetry/telemetry.ts';
import { gatewaySettings } from './gateway-settings.ts';
import { lendStorage, type LentStorage } from './lent-storage.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** Retries within milliseconds, three and five of them as in the real policies. */
export const FAST_RETRY = {
  runs: { maxAttempts: 3, baseMs: 10, factor: 2, maxMs: 100 },
  outbox: { maxAttempts: 5, baseMs: 10, factor: 2, maxMs: 100 },
  heartbeat: { maxAttempts: 5, baseMs: 10, factor: 2, maxMs: 100 },
};

export function agentAction(change: Partial<AgentAction> = {}): AgentAction {
  const id = randomUUID();
  return {
    kind: 'agent',
    id,
    prompt: `prompt of ${change.message ?? 'hello'}` as SafeText,
    message: 'hello',
    name: 'Test',
    sessionKey: `hook:${id}`,
    owner: 'mapping:test',
    oneShot: change.sessionKey === undefined,
    wakeMode: 'next-heartbeat',
    deliver: false,
    channel: 'last',
    origin: { requestId: randomUUID(), path: 'test', mappingId: 'test', trusted: false },
    ...change,
  };
}

export function wakeAction(text: string, change: Partial<WakeAction> = {}): WakeAction {
  const origin = { requestId: randomUUID(), path: 'wake', trusted: false };
  return { kind: 'wake', id: randomUUID(), text, mode: 'now', origin, ...change };
}

/** A runner whose turns a test answers: each waits until it is settled by its message. */
export class HeldRunner implements Runner {
  readonly kind = 'held';
  readonly started: Turn[] = [];
  readonly #settle = new Map<string, (result: TurnResult) => void>();

  run(turn: Turn, { signal }: RunnerOptions): Promise<TurnResult> {
    this.started.push(turn);
    return new Promise((resolve) => {
      this.#settle.set(turn.message, resolve);
      const stopped = { kind: 'completed', outcome: 'error', reply: '' } as const;
      signal.addEventListener('abort', () => resolve(stopped), { once: true });
    });
  }

  finish(message: string, result: TurnResult = ok(`re: ${message}`)): void {
    const settle = this.#settle.get(message);
    if (settle === undefined) throw new Error(`no turn with the message ${message} is under way`);
    this.#settle.delete(message);
    settle(result);
  }

  get messages(): readonly string[] {
    return this.started.map((turn) => turn.message);
  }
}

/** A runner that answers with a function. */
export function answering(answer: (turn: Turn) => TurnResult): Runner {
  return { kind: 'answering', run: (turn) => Promise.resolve(answer(turn)) };
}

export function ok(reply: string): TurnResult {
  return { kind: 'completed', outcome: 'ok', reply };
}

/** A channel that keeps what it is given; `answer` decides what becomes of each message. */
export class RecordingChannel implements ChannelAdapter {
  readonly id: string;
  readonly maxChars: number;
  readonly messages: ChannelMessage[] = [];
  answer: (message: ChannelMessage, signal: AbortSignal) => SendResult | Promise<SendResult> = () => ({
    kind: 'sent',
  });

  constructor(id: string, maxChars = 100) {
    this.id = id;
    this.maxChars = maxChars;
  }

  check(): Promise<{ readonly ok: true; readonly account: string }> {
    return Promise.resolve({ ok: true, account: this.id });
  }

  async send(message: ChannelMessage, signal: AbortSignal): Promise<SendResult> {
    this.messages.push(message);
    return this.answer(message, signal);
  }

  get texts(): readonly string[] {
    return this.messages.map((message) => message.text);
  }
}

/** Counts what a gateway reports. */
export class CountedMetrics implements GatewayMetrics {
  readonly runs: Record<string, number> = { ok: 0 };
  readonly outbox: Record<string, number> = { sent: 0, dead: 0, repeated: 0 };
  readonly heartbeat: Record<string, number> = { ok: 0, failed: 0 };

  observeRun({ result }: { readonly result: string }): void {
    this.runs[result] = (this.runs[result] ?? 0) + 1;
  }

  observeDelivery({ result }: { readonly result: string }): void {
    this.outbox[result] = (this.outbox[result] ?? 0) + 1;
  }

  observeHeartbeat(result: string): void {
    this.heartbeat[result] = (this.heartbeat[result] ?? 0) + 1;
  }

  observeTokens(): void {}
  setAway(): void {}
  setWorkers(): void {}
  setWaiting(): void {}
}

export interface HouseOptions {
  readonly gateway?: Partial<GatewaySettings>;
  readonly agents?: Partial<Settings['agents']['defaults']>;
  /** Channels with their settings; `to` is the default recipient. */
  readonly channels?: readonly (
    RecordingChannel | { readonly channel: RecordingChannel; readonly to: string }
  )[];
  readonly runners?: Readonly<Record<string, Runner>>;
  readonly runnerSettings?: Readonly<Record<string, RunnerSettings>>;
  readonly options?: Partial<GatewayOptions>;
  /** A store that is already there. */
  readonly file?: string;
  /** A store in PostgreSQL, which others share, and how long a lease lasts there. */
  readonly url?: string;
  readonly leaseMs?: number;
  /** System events that may wait. */
  readonly maxPendingEvents?: number;
  readonly start?: boolean;
  readonly limits?: LimitRules;
  readonly approvalLink?: NonNullable<GatewayConfiguration['approvalLink']>;
  readonly sharedChannel?: string;
  readonly askPermission?: NonNullable<GatewayConfiguration['askPermission']>;
}

export interface House {
  readonly storage: Storage;
  readonly gateway: Gateway;
  readonly counted: CountedMetrics;
  readonly configuration: GatewayConfiguration;
  readonly logged: readonly { readonly message: string; readonly fields: object }[];
  accept(...actions: readonly Action[]): Promise<void>;
  /** Texts of all system events, oldest first. */
  events(state?: string): Promise<readonly string[]>;
}

export function temporaryFile(): string {
  const folder = temporaryFolder();
  return join(folder, 'sluice.db');
}

export function configurationOf(options: HouseOptions): GatewayConfiguration {
  const channels = (options.channels ?? []).map((entry) =>
    entry instanceof RecordingChannel
      ? { channel: entry, settings: {} }
      : { ...entry, settings: { to: entry.to } },
  );
  return {
    settings: {
      gateway: gatewaySettings({ runners: options.runnerSettings ?? {}, ...options.gateway }),
      agents: {
        defaults: {
          model: undefined,
          models: undefined,
          aliases: {},
          timeoutSeconds: 20,
          maxTimeoutSeconds: 3600,
          ...options.agents,
        },
      },
      channels: Object.fromEntries(channels.map(({ channel, settings }) => [channel.id, settings])),
    },
    ...(options.limits === undefined ? {} : { limits: options.limits }),
    ...(options.approvalLink === undefined ? {} : { approvalLink: options.approvalLink }),
    ...(options.askPermission === undefined ? {} : { askPermission: options.askPermission }),
    sharedChannel: options.sharedChannel,
    runners: new Map(Object.entries({ default: createEchoRunner(), ...options.runners })),
    channels: { find: async (id) => channels.find(({ channel }) => channel.id === id)?.channel },
  };
}

/** The store of a house, and how it is left when the test ends: one that is nothing special goes to the next test. */
async function storeFor({ url, file, leaseMs, maxPendingEvents }: HouseOptions): Promise<LentStorage> {
  if ((url ?? file ?? leaseMs ?? maxPendingEvents) === undefined) return lendStorage();
  const storage = await openStorage(url ?? `sqlite:${file ?? temporaryFile()}`, {
    fsync: false,
    replica: { role: 'all', version: 'test', leaseMs: leaseMs ?? 20_000 },
    ...(maxPendingEvents === undefined ? {} : { maxPendingEvents }),
  });
  return { storage, giveBack: () => storage.close() };
}

/** A real store with a gateway on it, which is gone when the test ends. */
export async function openHouse(options: HouseOptions = {}): Promise<House> {
  const { storage, giveBack } = await storeFor(options);
  const configuration = configurationOf(options);
  const logged: { message: string; fields: object }[] = [];
  const log = (fields: object, message: string): void => void logged.push({ message, fields });
  const counted = new CountedMetrics();
  const gateway = new Gateway({
    storage,
    configuration,
    log: { info: log, warn: log, error: log },
    retry: FAST_RETRY,
    metrics: counted,
    ...options.options,
  });
  onTestFinished(async () => {
    await gateway.stop(0);
    await giveBack();
  });
  storage.onOutsideChange(() => gateway.notifyOutside());
  if (options.start !== false) await gateway.start();
  return {
    storage,
    gateway,
    counted,
    configuration,
    logged,
    async accept(...actions) {
      await storage.accept({ requestId: randomUUID(), receivedAt: Date.now(), actions, warnings: [] });
      gateway.notify();
    },
    async events(state) {
      const events = await storage.listEvents({ limit: 1000, ...(state === undefined ? {} : { state }) });
      return events.map((event) => event.text).reverse();
    },
  };
}
