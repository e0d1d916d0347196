/** What goes between the service, the thread that starts the process that reads a mailbox, and that process. */
import type { MailStorage } from '../../engine/storage/storage.ts';
import type { LogFields, Trouble } from '../../base/telemetry/telemetry.ts';
import type { EndpointRequest } from './hook-endpoint.ts';
import type { MailboxStatus } from './mailbox-health.ts';
import type { MailServiceOptions } from './mail-service.ts';

/** Exit code of a reader that took more memory than it may. */
export const TOO_LARGE = 70;

type Level = 'debug' | 'info' | 'warn' | 'error';
/** An operation of the store, whichever it is. */
export type StoreCall = (...args: readonly unknown[]) => Promise<unknown>;

/** What the reader is started with: of the options what can be sent, and how many readers ended with a message. */
export interface ReaderStart extends Pick<MailServiceOptions, 'mail' | 'sinceMs' | 'messageLimits'> {
  readonly times: MailServiceOptions['times'] | undefined;
  readonly open: MailServiceOptions['open'] | undefined;
  readonly deaths: ReadonlyMap<string, number>;
}

export type ToReader =
  | { readonly kind: 'start'; readonly start: ReaderStart }
  | { readonly kind: 'wake' | 'look' | 'ping' | 'stop' }
  | { readonly kind: 'answer'; readonly id: number; readonly value?: unknown; readonly error?: string };

/** Between the service and the thread that starts the reader. */
export type ToThread = ToReader | { readonly kind: 'kill' };
export type FromThread = FromReader | { readonly kind: 'ended'; readonly reason: string };

export type FromReader =
  | { readonly kind: 'statuses'; readonly statuses: readonly MailboxStatus[] }
  | { readonly kind: 'log'; readonly level: Level; readonly fields: LogFields; readonly text: string }
  | { readonly kind: 'protect'; readonly secret: string }
  | { readonly kind: 'raise'; readonly trouble: Trouble }
  | { readonly kind: 'clear'; readonly which: Pick<Trouble, 'code' | 'name'> }
  | { readonly kind: 'fetching'; readonly mailbox: string; readonly identity: string }
  | ({ readonly kind: 'call'; readonly id: number } & (
      | { readonly ask: 'endpoint'; readonly args: readonly [EndpointRequest] }
      | { readonly ask: keyof MailStorage; readonly args: readonly unknown[] }
    ));
