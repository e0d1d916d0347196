/** How the interface of a sender is asked: what its file says of it, filled with what is known here. */
import { isLoopback } from '../../base/address.ts';
import {
  connectionCode,
  connectionText,
  fetchJson,
  type JsonAnswer,
  StatusError,
} from '../../base/outgoing/outgoing.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import { clearLine } from '../../base/telemetry/telemetry.ts';
import type { SenderInterface } from './sender.ts';

const TIMEOUT_MS = 20_000;

/** Whose interface is asked, where it is, what it is asked about, and with which token. */
export interface AskedInterface {
  readonly title: string;
  readonly interface: SenderInterface;
  /** The address of the interface: that of the sender, or of a self-hosted GitLab. */
  readonly api: URL;
  /** Such as a repository. */
  readonly target: string | undefined;
  /** The path of that, with {target}. */
  readonly place: string;
  readonly token: string;
}

/** What the texts of a file are filled with, beside {token}, {target} and {place}. */
export type Filling = Readonly<Record<string, string>>;

/** The interface could not be asked, or may not be asked so. The message is for people, and has no token. */
export class InterfaceError extends Error {
  override readonly name = 'InterfaceError';
  /** `address`: nothing was sent, as the token would go elsewhere; `answer`: there was none that can be used. */
  readonly kind: 'address' | 'answer';

  constructor(kind: 'address' | 'answer', message: string, cause?: unknown) {
    super(message, { cause });
    this.kind = kind;
  }
}

/** The place that a target names; undefined where it is none, or where one is named that is not asked for. */
export function placeOf({ places }: SenderInterface, target: string | undefined): string | undefined {
  if (places === undefined) return target === undefined ? '' : undefined;
  return places.find(({ form }) => new RegExp(form).test(target ?? ''))?.path;
}

/** What a target has to be, in words. */
export const placesText = ({ places = [] }: SenderInterface): string =>
  places.map(({ what }) => what).join(', or ');

/** A token may be sent only over TLS, or within this machine. @throws InterfaceError */
export function readApi(address: string): URL {
  const api = URL.canParse(address) ? new URL(address) : undefined;
  const isSafe = api?.protocol === 'https:' || (api?.protocol === 'http:' && isLoopback(api.hostname));
  if (api !== undefined && isSafe && `${api.username}${api.password}${api.search}${api.hash}` === '')
    return api;
  const found = JSON.stringify(clearLine(address));
  throw new InterfaceError(
    'address',
    `a token is sent to an address of https:// only, without a name and a password in it, found ${found}`,
  );
}

/** Fills the texts of a value; `{target:part}` is the target as one part of a path. */
export function filled(value: JsonValue, asked: AskedInterface, filling: Filling): JsonValue {
  if (typeof value === 'string') return fill(value, asked, filling);
  if (Array.isArray(value))
    return (value as readonly JsonValue[]).map((each) => filled(each, asked, filling));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, filled(each ?? null, asked, filling)]),
  );
}

function fill(text: string, { target = '', place, token }: AskedInterface, filling: Filling): string {
  const values: Filling = { ...filling, target, 'target:part': encodeURIComponent(target), token };
  const placed = text.replaceAll('{place}', place);
  return placed.replaceAll(/\{([a-z:]+)\}/g, (all, name: string) => values[name] ?? all);
}

/** Makes an address. An id comes from an answer, so it stays one part of the path, whatever stands in it. */
const joined = (path: string, asked: AskedInterface, filling: Filling): string =>
  `${asked.api.href.replace(/(?<!\/)\/+$/, '')}${fill(path, asked, { ...filling, id: encodeURIComponent(filling['id'] ?? '') })}`;

/** An address as it may be shown: without the token. */
export const shownAddress = (path: string, asked: AskedInterface, filling: Filling): string =>
  clearLine(joined(path, { ...asked, token: '…' }, filling));

/**
 * The host must be the one that was shown, and every part must stay one: a path may begin with what belongs to a host.
 * @throws InterfaceError
 */
export function interfaceAddress(path: string, asked: AskedInterface, filling: Filling): URL {
  const address = joined(path, asked, filling);
  const url = URL.canParse(address) ? new URL(address) : undefined;
  // A part of dots alone would lead to what stands above it.
  const isWhole = !/\/(?:\.|%2e){1,2}(?:[/?#]|$)/i.test(address);
  if (url !== undefined && url.origin === asked.api.origin && isWhole) return url;
  throw new InterfaceError(
    'address',
    `a path of the file of ${asked.title} leaves ${asked.api.origin}: nothing was sent`,
  );
}

export interface InterfaceRequest {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  readonly path: string;
  readonly body?: JsonValue;
  /** The body is a form: lists are repeated. */
  readonly form?: boolean | undefined;
  readonly exact?: boolean;
  readonly maxBytes?: number;
  readonly signal?: AbortSignal;
}

/** Sends one request with the token; an answer of the interface is returned, whatever its status. @throws InterfaceError */
export async function askInterface(
  asked: AskedInterface,
  { method, path, body, form, exact, maxBytes, signal }: InterfaceRequest,
  filling: Filling,
): Promise<JsonAnswer> {
  const headers = Object.entries(asked.interface.headers ?? {}).map(([name, text]) => [
    name,
    fill(text, asked, filling),
  ]);
  const made = body === undefined ? undefined : filled(body, asked, filling);
  return fetchJson(interfaceAddress(path, asked, filling), {
    method,
    headers: { 'user-agent': 'sluice', ...Object.fromEntries(headers) },
    ...(made === undefined ? {} : { body: form === true && isJsonObject(made) ? asForm(made) : made }),
    signal: AbortSignal.any([AbortSignal.timeout(TIMEOUT_MS), ...(signal === undefined ? [] : [signal])]),
    exact,
    maxBytes,
  }).catch((error: unknown) => {
    if (error instanceof StatusError) {
      const { status, retryAfterMs } = error;
      return { status, retryAfterMs, headers: new Headers(), body: undefined };
    }
    const code = connectionCode(error);
    const why =
      code === undefined ? (error instanceof Error ? error.name : 'no answer') : connectionText(code);
    throw new InterfaceError(
      'answer',
      `${asked.title} cannot be asked at ${asked.api.origin}: ${why}`,
      error,
    );
  });
}

function asForm(body: JsonObject): URLSearchParams {
  const form = new URLSearchParams();
  const textOf = (value: JsonValue): string => (typeof value === 'string' ? value : JSON.stringify(value));
  for (const [key, value] of Object.entries(body)) {
    if (Array.isArray(value)) {
      for (const each of value as readonly JsonValue[]) form.append(`${key}[]`, textOf(each));
    } else form.set(key, textOf(value));
  }
  return form;
}

/** The sender's own answer is not shown, because it may quote what was sent. */
const MEANINGS: Readonly<Record<number, string>> = {
  401: 'the token is wrong, or was revoked',
  403: 'the token may not do this',
  404: 'there is no such place, or the token may not see it',
  422: 'the sender does not take this address, or has as many webhooks as it allows',
};

/** What a status of an interface means, and which token it takes. */
export const refusalText = (status: number, { title, interface: { token } }: AskedInterface): string =>
  `${title} answered ${status}: ${MEANINGS[status] ?? 'look at its documentation'} (it takes ${token})`;
