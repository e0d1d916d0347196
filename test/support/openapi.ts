/**
 * Writes `schemas/openapi.json`, the HTTP interface as OpenAPI 3.1, from the tables that the service itself uses: errors,
 * fields of actions, conditions of health. With `--check` it only says whether the file is as these are.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { CHANNEL_IDS, LAST_CHANNEL, THINKING_LEVELS, WAKE_MODES } from '../../src/base/action.ts';
import { HOOK_ERRORS } from '../../src/base/errors.ts';
import { HEALTH_CONDITIONS } from '../../src/base/telemetry/health.ts';
import { AGENT_FIELDS, typeProblem, WAKE_FIELDS, type Field } from '../../src/engine/hook/action-fields.ts';
import { workerProtocol } from '../../src/service/runners/runners.ts';
import * as z from 'zod';
import type { RunOutcome, RunState } from '../../src/engine/storage/storage.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const FILE = `${ROOT}schemas/openapi.json`;
const { version } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8')) as { readonly version: string };

type Schema = Readonly<Record<string, unknown>>;

/** What a field means; its type is asked of the service. */
const FIELDS: Readonly<Record<Field, Schema>> = {
  text: { description: 'What happened; not blank.' },
  mode: { enum: WAKE_MODES, default: 'now', description: 'Whether the heartbeat comes now or later.' },
  message: { description: 'The prompt; not blank.' },
  name: { description: 'Stands before the summary.', default: 'Hook' },
  sessionKey: {
    description: 'Runs with the same key are one conversation; default a new one.',
    maxLength: 256,
  },
  wakeMode: { enum: WAKE_MODES, default: 'now', description: 'Whether the heartbeat comes now or later.' },
  deliver: { description: 'Whether the reply goes to a channel.', default: true },
  channel: {
    description: 'A channel; last is the one that was used last.',
    default: LAST_CHANNEL,
    examples: [LAST_CHANNEL, ...CHANNEL_IDS],
  },
  to: { description: 'The recipient on the channel; default the last one.' },
  model: { description: 'A model by its name or alias.' },
  thinking: { description: 'How much the model thinks.', examples: THINKING_LEVELS },
  timeoutSeconds: { description: 'The longest time of the run.', exclusiveMinimum: 0 },
  agentId: { description: 'An agent of the service.' },
};
const SAMPLES = { string: 'now', number: 1, boolean: true } as const;

function body(fields: readonly Field[], required: Field): Schema {
  const properties = fields.map((field) => {
    const types = Object.entries(SAMPLES).flatMap(([type, sample]) =>
      typeProblem(field, sample) === undefined ? [type] : [],
    );
    if (types.length === 0) throw new Error(`no sample is right for ${field}`);
    return [field, { type: types.length === 1 ? types[0] : types, ...FIELDS[field] }];
  });
  return { type: 'object', required: [required], properties: Object.fromEntries(properties) as Schema };
}

const STATES: Readonly<Record<RunState, true>> = { queued: true, active: true, completed: true, dead: true };
const OUTCOMES: Readonly<Record<RunOutcome, true>> = {
  ok: true,
  error: true,
  timeout: true,
  forwarded: true,
};

const ref = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` });
const id = { type: 'string', format: 'uuid' };
const time = { type: 'string', format: 'date-time' };
const ok = { type: 'boolean', const: true };
const text = { type: 'string' };
const object = (properties: Schema, required: readonly string[] = Object.keys(properties)): Schema => ({
  type: 'object',
  required,
  properties,
});

/** Of an answer to accepted work. */
const ACCEPTED = {
  duplicate: { type: 'boolean', description: 'True where this repeats a request that was accepted before.' },
  warnings: { type: 'array', items: ref('Warning') },
};
const ENDED = {
  state: { type: 'string', enum: Object.keys(STATES) },
  outcome: { type: 'string', enum: Object.keys(OUTCOMES), description: 'Absent until the run has ended.' },
  reply: text,
  error: object({ code: text, message: text }),
};
const trouble = (effect: string): Schema => {
  const codes = Object.entries(HEALTH_CONDITIONS).flatMap(([code, { effect: own }]) =>
    own === effect ? [code] : [],
  );
  return {
    type: 'array',
    items: object({ code: { type: 'string', enum: codes }, since: time, count: { type: 'integer' } }),
  };
};

const { endSchema, renewSchema, takenSchema, takeSchema } = workerProtocol;
/** What a worker says, by the schemas that read it. */
const saidByWorkers = (schema: z.ZodType): Schema => {
  const { $schema: _, ...said } = z.toJSONSchema(schema, { io: 'input' });
  return said;
};

const schemas = {
  Wake: body(WAKE_FIELDS, 'text'),
  AgentRun: body(AGENT_FIELDS, 'message'),
  Warning: object({ code: text, field: text, message: text }, ['code', 'message']),
  AcceptedWake: object({ ok, mode: { type: 'string', enum: WAKE_MODES }, id, ...ACCEPTED }, [
    'ok',
    'mode',
    'id',
  ]),
  AcceptedRun: object({ ok, runId: id, ...ACCEPTED }, ['ok', 'runId']),
  EndedRun: object({ ok, runId: id, ...ENDED, ...ACCEPTED }, ['ok', 'runId', 'state']),
  AcceptedHook: {
    description:
      'The form of one wake or of one run where the request became one action, else the ids of all.',
    ...object(
      {
        ok,
        mode: { type: 'string', enum: WAKE_MODES },
        id,
        runId: id,
        ids: { type: 'array', items: id },
        runIds: { type: 'array', items: id },
        duplicates: { type: 'array', items: id, description: 'Actions that dedupe left out.' },
        ...ENDED,
        ...ACCEPTED,
      },
      ['ok'],
    ),
  },
  Run: object(
    {
      ok,
      runId: id,
      ...ENDED,
      attempts: { type: 'integer' },
      acceptedAt: time,
      startedAt: time,
      endedAt: time,
    },
    ['ok', 'runId', 'state', 'attempts', 'acceptedAt'],
  ),
  Health: object({ ok }),
  WorkerQuestion: saidByWorkers(takeSchema),
  WorkerAnswer: {
    ...saidByWorkers(takenSchema),
    description: 'The run, or null where none is there in time.',
  },
  Renewal: saidByWorkers(renewSchema),
  Renewed: object(
    {
      ok,
      leaseSeconds: { type: 'number' },
      end: { ...text, description: 'Why the worker is to end the run.' },
    },
    ['ok', 'leaseSeconds'],
  ),
  WorkerEnd: saidByWorkers(endSchema),
  Readiness: object(
    {
      ok: { type: 'boolean' },
      ready: { type: 'boolean' },
      unready: trouble('unready'),
      degraded: trouble('degraded'),
      generation: text,
      hooksEnabled: { type: 'boolean' },
      backlog: { type: 'object', additionalProperties: { type: 'number' } },
      dead: { type: 'integer' },
    },
    ['ok', 'ready', 'unready', 'degraded'],
  ),
  Problem: object(
    {
      type: { type: 'string', format: 'uri', description: 'urn:sluice:error: and the code.' },
      title: text,
      status: { type: 'integer' },
      detail: text,
      code: { type: 'string', enum: Object.keys(HOOK_ERRORS) },
      errors: {
        type: 'array',
        items: object({ code: text, field: text, index: { type: 'integer' }, message: text }, ['message']),
      },
      requestId: text,
      ok: { type: 'boolean', const: false },
      error: text,
    },
    ['type', 'title', 'status', 'detail', 'code', 'requestId', 'ok', 'error'],
  ),
};

const header = (name: string): Schema => ({ $ref: `#/components/headers/${name}` });
const answer = (description: string, schema: string, more: Schema = {}): Schema => ({
  description,
  headers: { 'X-Request-Id': header('RequestId'), ...more },
  content: { 'application/json': { schema: ref(schema) } },
});

type Code = keyof typeof HOOK_ERRORS;
const STATUSES = Object.groupBy(Object.keys(HOOK_ERRORS) as Code[], (code) => HOOK_ERRORS[code].status);
const responses = Object.fromEntries(
  Object.entries(STATUSES).map(([status, codes]) => [
    `Problem${status}`,
    {
      description: codes.map((code) => `\`${code}\`: ${HOOK_ERRORS[code].title}`).join('; '),
      headers: {
        'X-Request-Id': header('RequestId'),
        ...(['429', '503'].includes(status) && { 'Retry-After': header('RetryAfter') }),
      },
      content: { 'application/problem+json': { schema: ref('Problem') } },
    },
  ]),
);
/** All statuses of hooks, or those of another request. */
const problems = (statuses = Object.keys(STATUSES).filter((status) => status !== '409')): Schema =>
  Object.fromEntries(statuses.map((status) => [status, { $ref: `#/components/responses/Problem${status}` }]));

const parameter = (name: string): Schema => ({ $ref: `#/components/parameters/${name}` });
const json = (schema: Schema): Schema => ({ required: true, content: { 'application/json': { schema } } });
const OF_POSTS = [parameter('IdempotencyKey'), parameter('Prefer')];
const waited = (schema: string): Schema =>
  answer('The run has ended (Prefer: wait)', schema, { 'Preference-Applied': header('PreferenceApplied') });
/** Health stands outside of hooks.path. */
const servers = [{ url: '{address}', variables: { address: { default: 'http://127.0.0.1:8787' } } }];

const runId = { name: 'id', in: 'path', required: true, schema: id };
const ofWorkers = (
  operationId: string,
  summary: string,
  [asked, answered]: readonly [string, string],
  parameters: readonly Schema[] = [],
): Schema => ({
  operationId,
  tags: ['workers'],
  summary,
  security: [{ worker: [] }],
  parameters,
  requestBody: json(ref(asked)),
  responses: {
    200: answer('It is as was asked', answered),
    ...problems(['400', '401', '404', '405', '409', '413', '415', '429', '500', '503']),
  },
});

const document = {
  openapi: '3.1.1',
  info: {
    title: 'Sluice',
    version,
    description:
      'The HTTP interface of an inbound hook service for agent gateways. A status from 200 to 299 means that the work is on disk; an error means that nothing was stored.',
    license: { name: 'MIT', identifier: 'MIT' },
  },
  servers: [
    {
      url: '{address}{hooksPath}',
      variables: {
        address: { default: 'http://127.0.0.1:8787' },
        hooksPath: { default: '/hooks', description: 'hooks.path of the configuration' },
      },
    },
  ],
  security: [{ token: [] }, { serviceToken: [] }],
  tags: [{ name: 'hooks' }, { name: 'workers' }, { name: 'health' }],
  paths: {
    '/wake': {
      post: {
        operationId: 'wake',
        tags: ['hooks'],
        summary: 'Adds a system event to the main session',
        parameters: [parameter('IdempotencyKey')],
        requestBody: json(ref('Wake')),
        responses: { 200: answer('The event is stored', 'AcceptedWake'), ...problems() },
      },
    },
    '/agent': {
      post: {
        operationId: 'startRun',
        tags: ['hooks'],
        summary: 'Starts an agent run',
        parameters: OF_POSTS,
        requestBody: json(ref('AgentRun')),
        responses: {
          200: waited('EndedRun'),
          202: answer('The run is stored', 'AcceptedRun'),
          ...problems(),
        },
      },
    },
    '/{name}': {
      post: {
        operationId: 'sendHook',
        tags: ['hooks'],
        summary: 'Sends a body that a mapping translates',
        description:
          'A path whose mapping has `verify` asks for the proof of its sender in place of the token.',
        parameters: [
          { name: 'name', in: 'path', required: true, schema: { ...text, maxLength: 512 } },
          ...OF_POSTS,
        ],
        requestBody: json({}),
        responses: {
          200: answer('Wakes are stored, or the run has ended (Prefer: wait)', 'AcceptedHook'),
          202: answer('Runs are stored', 'AcceptedHook'),
          204: { description: 'There was nothing to do', headers: { 'X-Request-Id': header('RequestId') } },
          ...problems(),
        },
      },
    },
    '/runs/{id}': {
      get: {
        operationId: 'getRun',
        tags: ['hooks'],
        summary: 'State, outcome and reply of a run; needs hooks.exposeRuns',
        parameters: [{ name: 'id', in: 'path', required: true, schema: id }],
        responses: {
          200: answer('The run', 'Run'),
          ...problems(['401', '404', '405', '429', '500', '503']),
        },
      },
    },
    '/workers/runs:take': {
      servers,
      post: ofWorkers('takeRun', 'Asks for a run, and waits for one', ['WorkerQuestion', 'WorkerAnswer']),
    },
    '/workers/runs/{id}:renew': {
      servers,
      post: ofWorkers('renewRun', 'Says that the turn goes on', ['Renewal', 'Renewed'], [runId]),
    },
    '/workers/runs/{id}:finish': {
      servers,
      post: ofWorkers('finishRun', 'Hands over how the turn ended', ['WorkerEnd', 'Health'], [runId]),
    },
    '/healthz': {
      servers,
      get: {
        operationId: 'getHealth',
        tags: ['health'],
        summary: 'Whether the process runs',
        security: [],
        responses: { 200: answer('It runs', 'Health') },
      },
    },
    '/readyz': {
      servers,
      get: {
        operationId: 'getReadiness',
        tags: ['health'],
        summary: 'Whether the service takes hooks, and what is wrong',
        security: [],
        responses: {
          200: answer('It takes hooks', 'Readiness'),
          503: answer('It takes none now', 'Readiness', { 'Retry-After': header('RetryAfter') }),
        },
      },
    },
  },
  components: {
    schemas,
    responses,
    parameters: {
      IdempotencyKey: {
        name: 'Idempotency-Key',
        in: 'header',
        description: 'A repeat with the same key and body gets the first answer again.',
        schema: { type: 'string', maxLength: 255 },
      },
      Prefer: {
        name: 'Prefer',
        in: 'header',
        description: 'Asks that the answer waits for the end of the run (RFC 7240), at most 300 seconds.',
        schema: { type: 'string', examples: ['wait=30'] },
      },
    },
    headers: {
      RequestId: { description: '`sluice explain` finds the request by it.', schema: text },
      RetryAfter: { description: 'Seconds until it is worth another try.', schema: { type: 'integer' } },
      PreferenceApplied: { description: 'How long the answer could have waited.', schema: text },
    },
    securitySchemes: {
      token: { type: 'http', scheme: 'bearer', description: '`hooks.token` of the configuration' },
      worker: { type: 'http', scheme: 'bearer', description: 'A token of a runner of kind worker' },
      serviceToken: { type: 'apiKey', in: 'header', name: 'x-service-token' },
    },
  },
};

const made = `${JSON.stringify(document, null, 2)}\n`;
if (!process.argv.includes('--check')) writeFileSync(FILE, made);
else if (readFileSync(FILE, 'utf8') !== made) {
  console.error('schemas/openapi.json is out of date; "npm run schemas" writes it');
  process.exitCode = 1;
}
