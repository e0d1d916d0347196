/** Makes a webhook through the interface of its sender, or removes it, as the sender's file says. */
import { isLoopback } from '../../../engine/config/facts.ts';
import { connectionCode, connectionText, fetchJson } from '../../../base/outgoing/outgoing.ts';
import { isJsonObject, type JsonObject, type JsonValue, valueAt } from '../../../base/json.ts';
import type { Registration } from '../../../engine/senders/senders.ts';
import { clearLine } from '../../../base/telemetry/telemetry.ts';
import { CliError, type Terminal } from '../terminal.ts';

const TIMEOUT_MS = 20_000;

export interface WebhookRegistration {
  readonly title: string;
  readonly register: Registration;
  readonly target: string | undefined;
  readonly token: string;
  readonly url: string;
  /** Absent where the sender makes the secret. */
  readonly secret?: string | undefined;
  /** The address of the interface: that of the sender, or of a self-hosted GitLab. */
  readonly api: URL;
  /** Nobody is asked. */
  readonly isSure: boolean;
}

/** Says what is wrong with the target, before anything is asked or written. */
export function targetProblem(
  { target: known }: Registration,
  target: string | undefined,
): string | undefined {
  if (known === undefined) return target === undefined ? undefined : `it takes no target, found ${target}`;
  if (target !== undefined && new RegExp(known.form).test(target)) return undefined;
  return `it needs ${known.what}${target === undefined ? '' : `, found ${JSON.stringify(target)}`}`;
}

/** A token may be sent only over TLS, or within this machine. */
export function interfaceOf(address: string): URL {
  const api = URL.canParse(address) ? new URL(address) : undefined;
  const isSafe = api?.protocol === 'https:' || (api?.protocol === 'http:' && isLoopback(api.hostname));
  if (api !== undefined && isSafe && `${api.username}${api.password}${api.search}${api.hash}` === '')
    return api;
  throw new CliError(
    `a token is sent to an address of https:// only, without a name and a password in it, found ${JSON.stringify(clearLine(address))}; --api names another one`,
    2,
  );
}

/** Shows what it will do, asks, and does it; resolves to the secret that the sender made. */
export async function registerWebhook(
  terminal: Terminal,
  given: WebhookRegistration,
): Promise<string | undefined> {
  const { title, register, url } = given;
  const { create } = register;
  const shown = filled(create.body, { ...given, ...HIDDEN });
  await agree(
    terminal,
    given,
    `POST ${shownAddress(create.path, given)}\n${JSON.stringify(shown, undefined, 2)}`,
  );
  if ((await findWebhook(given)) !== undefined) {
    terminal.err(`${title} has a webhook for ${url} already: it was left as it is; --remove takes it away`);
    return undefined;
  }
  const body = filled(create.body, given);
  const answer = await call(given, create.path, {
    method: 'POST',
    body: create.form === true && isJsonObject(body) ? asForm(body) : body,
  });
  const secret = create.secret === undefined ? undefined : valueAt(answer, create.secret.split('.'));
  terminal.out(`${title} has the webhook now; "--remove" takes it away again`);
  return typeof secret === 'string' ? secret : undefined;
}

/** Removes the webhook of this address. */
export async function removeWebhook(terminal: Terminal, given: WebhookRegistration): Promise<void> {
  const { title, register, url } = given;
  const { method, path } = register.remove;
  await agree(terminal, given, `${method} ${shownAddress(path, given)}`);
  const found = await findWebhook(given);
  if (found === undefined) throw new CliError(`${title} has no webhook for ${url}`, 2);
  await call({ ...given, id: found }, path, { method });
  terminal.out(`${title} has no webhook for ${url} any more; the files here were left as they are`);
}

/** Shows every request, of which the first carries the token, and its address; asks before any of them. */
async function agree(terminal: Terminal, given: WebhookRegistration, last: string): Promise<void> {
  const { api, isSure, register, title } = given;
  for (const { path } of [register.list, register.create, register.remove]) addressOf(path, given);
  terminal.out(`GET ${shownAddress(register.list.path, given)}\n${last}`);
  const question = `Send these requests of ${clearLine(title)}, and the token with them, to ${api.origin}?`;
  if (isSure || (terminal.interactive && (await terminal.confirm(question)))) return;
  throw new CliError(
    terminal.interactive ? 'nothing was done at the sender' : 'nobody can be asked here: add --yes',
    2,
  );
}

/**
 * Resolves to the id of the webhook of this address; empty where it has none; undefined where there is no such webhook.
 */
async function findWebhook(given: WebhookRegistration): Promise<string | undefined> {
  const { path, items, url } = given.register.list;
  const answer = await call(given, path, { method: 'GET' });
  const webhooks = items === undefined ? answer : valueAt(answer, items.split('.'));
  const list = Array.isArray(webhooks) ? (webhooks as readonly JsonValue[]) : [webhooks ?? null];
  const found = list.find((each) => valueAt(each, url.split('.')) === given.url);
  const id = found === undefined ? undefined : valueAt(found, ['id']);
  return found === undefined ? undefined : typeof id === 'string' || typeof id === 'number' ? String(id) : '';
}

type PlaceholderValues = WebhookRegistration & { readonly id?: string };

/** Fills the placeholders of a text; `{target:part}` is one part of a path. */
function fill(text: string, { target = '', token, url, secret = '', id = '' }: PlaceholderValues): string {
  const values: Readonly<Record<string, string>> = {
    target,
    'target:part': encodeURIComponent(target),
    token,
    url,
    secret,
    id: encodeURIComponent(id),
  };
  return text.replaceAll(/\{([a-z:]+)\}/g, (all, name: string) => values[name] ?? all);
}

function filled(value: JsonValue, filling: PlaceholderValues): JsonValue {
  if (typeof value === 'string') return fill(value, filling);
  if (Array.isArray(value)) return (value as readonly JsonValue[]).map((each) => filled(each, filling));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, filled(each ?? null, filling)]));
}

const HIDDEN = { secret: '…', token: '…', id: 'ID' };

const joined = (path: string, filling: PlaceholderValues): string =>
  `${filling.api.href.replace(/(?<!\/)\/+$/, '')}${fill(path, filling)}`;

const shownAddress = (path: string, given: WebhookRegistration): string =>
  clearLine(joined(path, { ...given, ...HIDDEN }));

/** The host must be the one that was shown: a path may begin with what belongs to a host. */
function addressOf(path: string, filling: PlaceholderValues): URL {
  const address = joined(path, filling);
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url !== undefined && url.origin === filling.api.origin) return url;
  throw new CliError(
    `a path of the file of ${filling.title} leaves ${filling.api.origin}: nothing was sent`,
    2,
  );
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
const REMEDIES: Readonly<Record<number, string>> = {
  401: 'the token is wrong, or was revoked',
  403: 'the token may not do this',
  404: 'there is no such place, or the token may not see it',
  422: 'the sender does not take this address',
};

async function call(
  filling: PlaceholderValues,
  path: string,
  { method, body }: { readonly method: 'GET' | 'POST' | 'DELETE'; readonly body?: unknown },
): Promise<JsonValue> {
  const { title, register, api } = filling;
  const headers = Object.entries(register.headers ?? {}).map(([name, text]) => [name, fill(text, filling)]);
  const answer = await fetchJson(addressOf(path, filling), {
    method,
    headers: { 'user-agent': 'sluice', ...Object.fromEntries(headers) },
    ...(body === undefined ? {} : { body }),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  }).catch((error: unknown) => {
    const code = connectionCode(error);
    const why =
      code === undefined ? (error instanceof Error ? error.name : 'no answer') : connectionText(code);
    throw new CliError(`${title} cannot be asked at ${api.origin}: ${why}`, 3);
  });
  if (answer.status < 300) return (answer.body ?? null) as JsonValue;
  const remedy = REMEDIES[answer.status] ?? 'look at its documentation';
  throw new CliError(`${title} answered ${answer.status}: ${remedy} (it takes ${register.token})`, 3);
}
