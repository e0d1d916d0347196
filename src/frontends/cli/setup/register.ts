/** Makes a webhook through the interface of its sender, or removes it, as the sender's file says. */
import { type JsonValue, valueAt } from '../../../base/json.ts';
import { clearLine } from '../../../base/telemetry/telemetry.ts';
import {
  type AskedInterface,
  askInterface,
  filled,
  type Filling,
  interfaceAddress,
  InterfaceError,
  type InterfaceRequest,
  type Registration,
  refusalText,
  type Sender,
  shownAddress,
  type Webhooks,
} from '../../../engine/senders/senders.ts';
import { CliError, type Terminal } from '../terminal.ts';

export interface WebhookRegistration extends AskedInterface {
  readonly register: Registration;
  readonly webhooks: Webhooks;
  readonly sender: Sender;
  readonly url: string;
  /** Absent where the sender makes the secret. */
  readonly secret?: string | undefined;
  /** Nobody is asked. */
  readonly isSure: boolean;
}

const HIDDEN = { secret: '…', id: 'ID' };

const fillingOf = ({ url, secret = '' }: WebhookRegistration): Filling => ({ url, secret });

/** Shows what it will do, asks, and does it; resolves to the secret that the sender made. */
export async function registerWebhook(
  terminal: Terminal,
  given: WebhookRegistration,
): Promise<string | undefined> {
  const { title, register, url } = given;
  const { create } = register;
  const shown = filled(create.body, { ...given, token: '…' }, { url, ...HIDDEN });
  const address = shownAddress(create.path, given, { url, ...HIDDEN });
  await agree(terminal, given, `POST ${address}\n${JSON.stringify(shown, undefined, 2)}`);
  if ((await findWebhook(given)) !== undefined) {
    terminal.err(`${title} has a webhook for ${url} already: it was left as it is; --remove takes it away`);
    return undefined;
  }
  const answer = await call(given, { method: 'POST', ...create }, fillingOf(given));
  const secret = create.secret === undefined ? undefined : valueAt(answer, create.secret.split('.'));
  terminal.out(`${title} has the webhook now; "--remove" takes it away again`);
  return typeof secret === 'string' ? secret : undefined;
}

/** Removes the webhook of this address. */
export async function removeWebhook(terminal: Terminal, given: WebhookRegistration): Promise<void> {
  const { title, register, url } = given;
  const { method, path } = register.remove;
  await agree(terminal, given, `${method} ${shownAddress(path, given, { url, ...HIDDEN })}`);
  const found = await findWebhook(given);
  if (found === undefined) throw new CliError(`${title} has no webhook for ${url}`, 2);
  await call(given, { method, path }, { ...fillingOf(given), id: found });
  terminal.out(`${title} has no webhook for ${url} any more; the files here were left as they are`);
}

/** Shows every request, of which the first carries the token, and its address; asks before any of them. */
async function agree(terminal: Terminal, given: WebhookRegistration, last: string): Promise<void> {
  const { api, isSure, register, title, url, webhooks } = given;
  try {
    for (const { path } of [webhooks, register.create, register.remove])
      interfaceAddress(path, given, fillingOf(given));
  } catch (error) {
    throw asCliError(error);
  }
  terminal.out(`GET ${shownAddress(webhooks.path, given, { url, ...HIDDEN })}\n${last}`);
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
  const { path, items, url } = given.webhooks;
  const answer = await call(given, { method: 'GET', path }, fillingOf(given));
  const webhooks = items === undefined ? answer : valueAt(answer, items.split('.'));
  const list = Array.isArray(webhooks) ? (webhooks as readonly JsonValue[]) : [webhooks ?? null];
  const found = list.find((each) => valueAt(each, url.split('.')) === given.url);
  const id = found === undefined ? undefined : valueAt(found, ['id']);
  return found === undefined ? undefined : typeof id === 'string' || typeof id === 'number' ? String(id) : '';
}

/** What of the interface a person has to know is a wrong use (2), or a failure (3). */
export function asCliError(error: unknown): unknown {
  if (!(error instanceof InterfaceError)) return error;
  const remedy = error.kind === 'address' ? '; --api names another one' : '';
  return new CliError(`${error.message}${remedy}`, error.kind === 'address' ? 2 : 3);
}

async function call(
  given: WebhookRegistration,
  request: InterfaceRequest,
  filling: Filling,
): Promise<JsonValue> {
  const answer = await askInterface(given, request, filling).catch((error: unknown) => {
    throw asCliError(error);
  });
  if (answer.status < 300) return (answer.body ?? null) as JsonValue;
  throw new CliError(refusalText(answer.status, given), 3);
}
