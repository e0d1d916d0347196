/** Makes a webhook through the interface of its sender, moves it, or removes it, as the sender's file says. */
import { defined, type JsonValue, valueAt } from '../../../base/json.ts';
import { clearLine } from '../../../base/telemetry/telemetry.ts';
import {
  type AskedInterface,
  askInterface,
  filled,
  interfaceAddress,
  type InterfaceRequest,
  type Registration,
  refusalText,
  type Sender,
  shownAddress,
  type Webhooks,
} from '../../../engine/senders/senders.ts';
import { CliError, type Terminal } from '../terminal.ts';
import { secretFor } from './ask.ts';

export interface WebhookRegistration extends AskedInterface {
  readonly register: Registration;
  readonly webhooks: Webhooks;
  readonly sender: Sender;
  readonly url: string;
  /** Absent where the sender makes the secret. */
  readonly secret?: string | undefined;
  /** Nobody is asked. */
  readonly isSure: boolean;
  /** Ends what is being asked. */
  readonly signal?: AbortSignal;
}

/** One webhook of the place; its id is empty where it has none. */
export interface ListedWebhook {
  readonly id: string;
  readonly url: unknown;
}

/** Reads the access token from the file that a person names, or asks for it. */
export const readAccessToken = (
  terminal: Terminal,
  { interface: { token }, api }: Pick<AskedInterface, 'interface' | 'api'>,
  file: string | undefined,
): Promise<string> => secretFor(terminal, '--token-file', file, `Paste ${token}; it goes to ${api.origin}`);

/** Shows what it will do, asks, and does it; resolves to the secret that the sender made. */
export async function registerWebhook(
  terminal: Terminal,
  given: WebhookRegistration,
): Promise<string | undefined> {
  const { title, register, url } = given;
  await agree(terminal, given, ['create']);
  if ((await listWebhooks(given)).some((each) => each.url === url)) {
    terminal.err(`${title} has a webhook for ${url} already: it was left as it is; --remove takes it away`);
    return undefined;
  }
  const answer = await changeWebhook(given, 'create');
  const secret = register.create.secret && valueAt(answer, register.create.secret.split('.'));
  terminal.out(`${title} has the webhook now; "--remove" takes it away again`);
  return typeof secret === 'string' ? secret : undefined;
}

export async function removeWebhook(terminal: Terminal, given: WebhookRegistration): Promise<void> {
  const { title, url } = given;
  await agree(terminal, given, ['remove']);
  const found = (await listWebhooks(given)).find((each) => each.url === url);
  if (found === undefined) throw new CliError(`${title} has no webhook for ${url}`, 2);
  await changeWebhook(given, 'remove', found.id);
  terminal.out(`${title} has no webhook for ${url} any more; the files here were left as they are`);
}

type WebhookChange = 'create' | 'move' | 'remove';

/** Shows every request, of which the first carries the token, and its address; asks before any of them. */
export async function agree(
  terminal: Terminal,
  given: WebhookRegistration,
  changes: readonly WebhookChange[],
): Promise<void> {
  const { api, isSure, register, title, url, webhooks, secret = '' } = given;
  const hidden = { url, secret: '…', id: 'ID' };
  const requests = [
    { method: 'GET' as const, path: webhooks.path },
    ...changes.map((change) => requestOf(register, change)),
  ];
  for (const { path } of [webhooks, register.create, register.remove, ...requests])
    interfaceAddress(path, given, { url, secret });
  for (const { method, path, body } of requests as readonly InterfaceRequest[]) {
    const shown = body === undefined ? undefined : filled(body, { ...given, token: '…' }, hidden);
    const text = shown === undefined ? '' : `\n${JSON.stringify(shown, undefined, 2)}`;
    terminal.out(`${method} ${shownAddress(path, given, hidden)}${text}`);
  }
  const question = `Send these requests of ${clearLine(title)}, and the token with them, to ${api.origin}?`;
  if (isSure || (terminal.interactive && (await terminal.confirm(question)))) return;
  throw new CliError(
    terminal.interactive ? 'nothing was done at the sender' : 'nobody can be asked here: add --yes',
    2,
  );
}

/** A sender whose file does not say how a webhook is moved is not asked for that. */
const requestOf = (register: Registration, change: WebhookChange): InterfaceRequest => ({
  method: 'POST',
  ...(register[change] ?? register.create),
});

/** Lists the webhooks of the place. @throws CliError where the sender does not say */
export async function listWebhooks(given: WebhookRegistration): Promise<readonly ListedWebhook[]> {
  const { path, items, url } = given.webhooks;
  const answer = await answerOf(given, { method: 'GET', path });
  const webhooks = items === undefined ? answer : valueAt(answer, items.split('.'));
  const list = Array.isArray(webhooks) ? (webhooks as readonly JsonValue[]) : [webhooks ?? null];
  return list.map((each) => {
    const id = valueAt(each, ['id']);
    return {
      id: typeof id === 'string' || typeof id === 'number' ? String(id) : '',
      url: valueAt(each, url.split('.')),
    };
  });
}

/** Makes a webhook, gives it the address, or removes it. @throws CliError where the sender does not do it */
export const changeWebhook = (
  given: WebhookRegistration,
  change: WebhookChange,
  id?: string,
): Promise<JsonValue> => answerOf(given, requestOf(given.register, change), id);

/** The sender says that it does not do it. */
export class WebhookRefused extends CliError {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message, 3);
    this.status = status;
  }
}

async function answerOf(given: WebhookRegistration, request: InterfaceRequest, id = ''): Promise<JsonValue> {
  const { url, secret = '', signal } = given;
  const asked = { ...request, ...defined({ signal }) };
  const answer = await askInterface(given, asked, { url, secret, id });
  if (answer.status < 300) return (answer.body ?? null) as JsonValue;
  throw new WebhookRefused(answer.status, refusalText(answer.status, given));
}
