import { isUtf8 } from 'node:buffer';
import { hash } from 'node:crypto';
import {
  ACTION_SETTINGS,
  evaluationToJson,
  NOT_KEPT,
  shapeOf,
  type Evaluation,
} from '../../engine/hook/hook.ts';
import { parseJson, setField } from '../../base/json.ts';
import type { FieldsRead, KeptKind } from '../../engine/mapping/mapping.ts';
import type { HookRequest } from '../../base/request.ts';
import type { KeptRequest } from '../../engine/storage/storage.ts';
import { REMOVED, SECRET_CARRIER, withoutSecrets as withoutValues } from '../../base/telemetry/telemetry.ts';
import type { Ending, RequestFacts } from './exchange.ts';
import { maskCarried } from './mask-secrets.ts';
import type { ServerContext } from './server-context.ts';
import { headersWithout } from './take-hook.ts';

/** Most UTF-16 units of the trace that is kept beside a request. */
const MAX_TRACE = 32 * 1024;

/** Keeps the request with what became of it where the configuration and its path say so. */
export function keepRequest(context: ServerContext, exchange: RequestFacts, ending: Ending): void {
  const { keepRequests } = exchange.generation;
  if (keepRequests === undefined) return;
  const { request } = ending.judged ?? {};
  const path = request?.path ?? exchange.unread?.name;
  if (path === undefined) return;
  const which = exchange.generation.settingsOf(path).keepRequests ?? keepRequests.which;
  const kind = kindOf(which, ending);
  if (kind === undefined) return;
  const cause = causeOf(exchange, path, ending);
  if (which === 'shapes') {
    const { receivedAt, bodyBytes } = exchange;
    // A long body counts for several.
    const weight = 1 + Math.floor(bodyBytes / WEIGHT_BYTES);
    if (!context.kept[kind].take(receivedAt, weight, cause)) return;
  }
  const json =
    kind === 'shape'
      ? shapeJson(exchange, ending, keepRequests.fieldsOf(path))
      : request === undefined
        ? unreadJson(exchange)
        : wholeJson(exchange, request, ending);
  if (json === undefined) return;
  const { id: requestId } = exchange.ids;
  const { receivedAt } = exchange;
  const kept = { requestId, receivedAt, kind, path, cause: hash('sha256', cause, 'base64url'), json };
  context.deps.storage.keepRequest(kept, keepRequests.limits);
}

/** The cause by names of the operator's files alone: invented names of a sender make no new causes. */
function causeOf({ generation }: RequestFacts, path: string, { error, judged }: Ending): string {
  const name = generation.knowsName(path) ? path : '';
  return `${name}\n${error?.code ?? ''}\n${judged?.evaluation?.mapping?.id ?? ''}`;
}

function kindOf(which: KeptKind, { answer, error, judged }: Ending): KeptRequest['kind'] | undefined {
  switch (which) {
    case 'none':
      return undefined;
    case 'transforms':
      return error?.code === 'transform_failed' ? 'whole' : undefined;
    case 'failed':
      return answer.status >= 400 ? 'whole' : undefined;
    case 'shapes':
      return answer.status >= 400 ? 'whole' : isOwnComment(judged) ? undefined : 'shape';
    case 'all':
      return 'whole';
  }
}

/** Whether the request is a comment of ours: only its words say so, which no shape has. */
const isOwnComment = (judged: Ending['judged']): boolean =>
  judged?.evaluation?.outcome.kind === 'skipped' && judged.evaluation.outcome.by === 'ownComment';

const WEIGHT_BYTES = 256 * 1024;

function wholeJson(exchange: RequestFacts, request: HookRequest, { judged = {} }: Ending): string {
  const { evaluation } = judged;
  const kept = { ...request, headers: withoutSecrets(request.headers), ...queryOf(request) };
  if (evaluation === undefined) return JSON.stringify(kept);
  const trace = JSON.stringify(traceOf(exchange.generation.id, evaluation));
  // What a transform printed or threw, and what a condition found, may repeat a secret.
  return JSON.stringify({
    ...kept,
    judged: parseJson(withoutValues(trace, secretsOf(exchange, request), 'json')),
  });
}

/** A body that could not be read is kept as bytes, which are read again for who asks. */
function unreadJson({ unread, headers, ids, receivedAt, generation }: RequestFacts): string | undefined {
  if (unread === undefined) return undefined;
  const { name, target, unpacked = unread.body, secretHeaders = [] } = unread;
  const carried = maskCarried(
    { ...target, headers: headersWithout(headers.values, secretHeaders) },
    generation.tokens,
  );
  const isText = isUtf8(unpacked);
  return JSON.stringify({
    ...ids,
    receivedAt,
    path: name,
    headers: withoutSecrets(carried.headers),
    ...queryOf(carried),
    body: unpacked.toString(isText ? 'utf8' : 'base64'),
    ...(isText ? {} : { isBase64: true }),
  });
}

/** Names and lengths, with the values that decided about it; no other value is kept. */
function shapeJson(exchange: RequestFacts, { judged = {} }: Ending, fields: FieldsRead): string | undefined {
  const { request, evaluation } = judged;
  if (request === undefined || evaluation === undefined) return undefined;
  const { outcome, mapping, trace } = evaluation;
  const { id, receivedAt, path, url, headers, query, payload, maybeLists } = request;
  return JSON.stringify({
    id,
    receivedAt,
    path,
    url: url.split('?', 1)[0],
    headers: valuesRead(headers, fields.below.get('headers')),
    query: valuesRead(query, fields.below.get('query')),
    maybeLists,
    shape: shapeOf(payload, mapping === undefined ? ACTION_SETTINGS : fields.below.get('payload')),
    results: trace.transforms.map(({ reply }) =>
      reply.kind === 'ok' && reply.json !== undefined
        ? shapeOf(parseJson(reply.json), ACTION_SETTINGS)
        : null,
    ),
    judged: {
      generation: exchange.generation.id,
      outcome: outcome.kind,
      mapping: mapping && { id: mapping.id },
      actions:
        outcome.kind === 'accepted'
          ? outcome.actions.map((action) => ({ kind: action.kind, id: action.id }))
          : [],
    },
  });
}

function valuesRead(values: HookRequest['headers'], fields: FieldsRead | undefined): HookRequest['headers'] {
  const read: Record<string, string> = {};
  for (const name in values) {
    const isKept = fields?.below.get(name)?.isRead === true && !SECRET_CARRIER.test(name);
    setField(read, name, isKept ? (values[name] ?? '') : NOT_KEPT);
  }
  return read;
}

/** Headers without secrets. The names stay, so that `explain` can say which condition reads one. */
function withoutSecrets(values: HookRequest['headers']): HookRequest['headers'] {
  const names = Object.keys(values);
  if (!names.some((name) => SECRET_CARRIER.test(name))) return values;
  return Object.fromEntries(
    names.map((name) => [name, SECRET_CARRIER.test(name) ? REMOVED : (values[name] ?? '')]),
  );
}

function queryOf({ query, url }: Pick<HookRequest, 'query' | 'url'>): Pick<HookRequest, 'query' | 'url'> {
  const safe = withoutSecrets(query);
  if (safe === query) return { query, url };
  return { query: safe, url: `${url.split('?', 1)[0] ?? ''}?${new URLSearchParams(safe).toString()}` };
}

/** Shorter values under a secret's name are words, such as `?key=main`. */
const MIN_VALUE_CHARS = 6;

/** Values that a transform or a condition may have read and written into its texts. */
function secretsOf({ generation }: RequestFacts, { headers, query }: HookRequest): readonly string[] {
  const carried = [headers, query]
    .flatMap((values) => Object.entries(values))
    .filter(([name, value]) => value.length >= MIN_VALUE_CHARS && SECRET_CARRIER.test(name));
  return [...generation.tokens.values, ...carried.map(([, value]) => value)];
}

/** The trace of the evaluation, as mappings may change. The actions are in the store, with their prompts. */
function traceOf(generation: string, evaluation: Evaluation): object {
  const { actions, templates: _templates, ...trace } = evaluationToJson(evaluation);
  const kept = { generation, ...trace, actions: actions.map(({ kind, id }) => ({ kind, id })) };
  if (JSON.stringify(kept).length <= MAX_TRACE) return kept;
  const { considered: _considered, transforms: _transforms, empty, ...rest } = kept;
  return { ...rest, considered: [], transforms: [], empty: empty.slice(0, 20), isCut: true };
}
