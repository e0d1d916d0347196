/** The messages between the service and the process that reads a mailbox. */
import type { MailStorage } from '../../engine/storage/storage.ts';
import type { LogFields, LogLevel } from '../../base/telemetry/telemetry.ts';
import type { EndpointRequest } from './hook-endpoint.ts';
import type { MailboxStatus } from './mailbox-health.ts';
import type { MailServiceOptions } from './mail-service.ts';

export interface ReaderStart extends Pick<MailServiceOptions, 'mail' | 'sinceMs' | 'times'> {
  /** By mailbox: a message, and how many readers in a row ended with it. */
  readonly deaths: Map<string, { readonly identity: string; readonly count: number }>;
}

export type ToReader =
  | { readonly kind: 'start'; readonly start: ReaderStart }
  | { readonly kind: 'wake' | 'stop' }
  | { readonly kind: 'answer'; readonly id: number; readonly value?: unknown; readonly error?: string };

/** An operation of the store, or a delivery. */
export type ReaderCall =
  | { readonly ask: 'endpoint'; readonly args: readonly [EndpointRequest] }
  | { readonly ask: keyof MailStorage; readonly args: readonly unknown[] };

export type FromReader =
  /** The reader also sends this every second: one that says nothing is stuck. */
  | { readonly kind: 'statuses'; readonly statuses: readonly MailboxStatus[]; readonly rssBytes: number }
  | { readonly kind: 'log'; readonly level: LogLevel; readonly fields: LogFields; readonly text: string }
  | { readonly kind: 'protect'; readonly secret: string }
  | { readonly kind: 'fetching' | 'reading'; readonly mailbox: string; readonly identity: string }
  | { readonly kind: 'read' }
  | ({ readonly kind: 'call'; readonly id: number } & ReaderCall);
