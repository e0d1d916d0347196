import { evaluationToJson, type Evaluation } from '../hook/hook.ts';
import type { HookRequest } from '../request.ts';
import { SecretValues } from '../telemetry/telemetry.ts';
import type { Ending } from './ending.ts';
import type { RequestFacts } from './exchange.ts';
import type { ServerContext } from './server-context.ts';

/** UTF-16 units of the trace kept beside a request. */
const MAX_TRACE = 32 * 1024;
/** Stands for the value of a header or parameter that proves who sent the request. */
const REMOVED = '[removed]';
/** Names that carry credentials or signatures of known senders and proxies: who reads them could forge a request. */
const SECRET_NAMES =
  /authorization|cookie|signature|[-_]sig$|^sig$|hmac|token|secret|passw|api-?_?key|^key$|jwt|credential|session|^x-auth/i;

/** Keeps the request with what became of it where the configuration and its path say so. */
export function keepRequest({ deps }: ServerContext, exchange: RequestFacts, ending: Ending): void {
  const { request, evaluation } = ending.judged ?? {};
  if (request === undefined) return;
  const { keepRequests, settingsOf } = exchange.generation;
  if (settingsOf(request.path).keepRequests === 'none' || !isWanted(keepRequests.which, ending)) return;
  const judged = evaluation === undefined ? undefined : traceOf(exchange.generation.id, evaluation);
  const json = JSON.stringify({
    ...request,
    headers: withoutSecrets(request.headers),
    ...queryOf(request),
    ...(judged === undefined ? {} : { judged: withoutValues(judged, secretsOf(exchange, request)) }),
  });
  deps.storage.keepRequest(
    { requestId: request.id, receivedAt: request.receivedAt, json },
    keepRequests.limits,
  );
}

function isWanted(which: 'none' | 'transforms' | 'failed' | 'all', { answer, error }: Ending): boolean {
  switch (which) {
    case 'none':
      return false;
    case 'transforms':
      return error?.code === 'transform_failed';
    case 'failed':
      return answer.status >= 400;
    case 'all':
      return true;
  }
}

/** The names stay, so that explain can say which condition reads one. */
function withoutSecrets(values: HookRequest['headers']): HookRequest['headers'] {
  const names = Object.keys(values);
  if (!names.some((name) => SECRET_NAMES.test(name))) return values;
  return Object.fromEntries(
    names.map((name) => [name, SECRET_NAMES.test(name) ? REMOVED : (values[name] ?? '')]),
  );
}

/** Query and address without secrets. */
function queryOf({ query, url }: HookRequest): Pick<HookRequest, 'query' | 'url'> {
  const safe = withoutSecrets(query);
  if (safe === query) return { query, url };
  return { query: safe, url: `${url.split('?', 1)[0] ?? ''}?${new URLSearchParams(safe).toString()}` };
}

/** Shorter values under a secret's name are words, such as `?key=main`. */
const MIN_VALUE_CHARS = 6;

/** Values that a transform or a condition may have read and written into its texts. */
function secretsOf({ generation }: RequestFacts, { headers, query }: HookRequest): SecretValues {
  const secrets = new SecretValues();
  for (const token of generation.tokens.values) secrets.add(token);
  for (const values of [headers, query]) {
    for (const [name, value] of Object.entries(values)) {
      if (value.length >= MIN_VALUE_CHARS && SECRET_NAMES.test(name)) secrets.add(value);
    }
  }
  return secrets;
}

/** The same with the secrets replaced in every text: what a transform printed or threw, what a condition found. */
function withoutValues(value: unknown, secrets: SecretValues): unknown {
  if (typeof value === 'string') return secrets.replaceIn(value);
  if (Array.isArray(value)) return value.map((item) => withoutValues(item, secrets));
  if (!isPlain(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, withoutValues(item, secrets)]),
  );
}

/** Exact numbers are objects of the engine, and print their own text. */
function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}

/** How it was judged when it came: mappings may change. The actions are in the store, the prompts with them. */
function traceOf(generation: string, evaluation: Evaluation): object {
  const { actions, templates: _templates, ...trace } = evaluationToJson(evaluation);
  const kept = { generation, ...trace, actions: actions.map(({ kind, id }) => ({ kind, id })) };
  if (JSON.stringify(kept).length <= MAX_TRACE) return kept;
  const { considered: _considered, transforms: _transforms, empty, ...rest } = kept;
  return { ...rest, considered: [], transforms: [], empty: empty.slice(0, 20), isCut: true };
}
