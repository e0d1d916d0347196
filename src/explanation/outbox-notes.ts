/* What was not delivered of a request's work, and why: the reply to a channel, and the callback. */
import { say, write, type Sentence } from '../finding.ts';
import { placeIfWritten } from '../document/document.ts';
import type { LoadedConfig } from '../config/config.ts';
import type { CompiledMapping } from '../mapping/mapping.ts';
import type { OutboxRecord } from '../storage/storage.ts';
import type { StoredRequest } from '../storage/facts.ts';
import type { Told } from './run-notes.ts';

interface Facts {
  readonly config: Pick<LoadedConfig, 'root'>;
  readonly mapping: CompiledMapping | undefined;
  readonly stored?: Pick<StoredRequest, 'runs'>;
}

/** By the setting that says where it goes. */
export const OUTBOX_RULES = {
  channel: undelivered,
  callbackUrl: uncalled,
} satisfies Readonly<Record<string, (facts: Facts) => Told | undefined>>;

/** Of several the first that failed; what is on its way for the first time is none. */
function failedOf({ stored }: Facts, kind: OutboxRecord['kind']): Required<Failed> | undefined {
  const entries = stored?.runs.flatMap(({ outbox }) => outbox) ?? [];
  return entries.find(
    (entry): entry is Required<Failed> =>
      entry.kind === kind &&
      entry.lastError !== undefined &&
      (entry.state === 'dead' || entry.state === 'queued'),
  );
}

type Failed = OutboxRecord & Pick<OutboxRecord, 'lastError'>;

function undelivered(facts: Facts): Told | undefined {
  const failed = failedOf(facts, 'delivery');
  if (failed === undefined) return undefined;
  const { mapping, config } = facts;
  const { lastError, target, delivery } = failed;
  const channel = target?.channel ?? delivery?.channel ?? '';
  const to = target?.to ?? delivery?.to;
  const isOfAccount = /^(?:unauthorized|not_configured|unreachable|connection_refused)$/.test(lastError.code);
  const account = isOfAccount ? placeIfWritten(config.root, ['channels', channel]) : undefined;
  return {
    at: account ?? mapping?.to?.at ?? mapping?.channel?.at ?? mapping?.at,
    text:
      emptyRecipient(lastError.code, mapping, channel) ??
      say`${channel}${to === undefined ? '' : ` (${to})`} did not get the message: ${lastError.message}`,
  };
}

/** A template of the recipient that gave nothing. */
function emptyRecipient(
  code: string,
  mapping: CompiledMapping | undefined,
  channel: string,
): Sentence | undefined {
  const source = mapping?.to?.source;
  if (code !== 'no_recipient' || source === undefined) return undefined;
  const [, path] = /^\{\{\s*([\w.[\]-]+)\s*\}\}$/.exec(source.trim()) ?? [];
  const why = say`to: '${source.slice(0, 80)}' gave nothing for this request, and there is no other recipient on ${channel}`;
  return path === undefined
    ? say`${why}. Write a recipient for such requests as to of channels.${channel}`
    : say`${why}. ${write(`to: '{{default ${path} "RECIPIENT"}}'`)} with the recipient of such requests, or correct the path`;
}

function uncalled(facts: Facts): Told | undefined {
  const failed = failedOf(facts, 'callback');
  if (failed === undefined) return undefined;
  const again = failed.state === 'queued' ? say`; it is tried again` : '';
  return {
    at: facts.mapping?.at,
    text: say`the outcome was not taken: ${failed.lastError.message}${again}`,
  };
}
