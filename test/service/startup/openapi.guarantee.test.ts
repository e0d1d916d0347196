/** `schemas/openapi.json` beside the service it describes: a client made from it works, and what is answered stands in it. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { build } from 'esbuild';
import { generate } from 'openapi-typescript-codegen';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService, type Service } from '../../../src/service/startup/startup.ts';
import { createLogger } from '../../../src/base/telemetry/telemetry.ts';

const ROOT = join(import.meta.dirname, '../../..');
const TOKEN = 'openapi-token-0123456789';

interface Described {
  readonly content?: Readonly<Record<string, { readonly schema: { readonly $ref: string } }>>;
  readonly $ref?: string;
}
interface Document {
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, { readonly responses: Readonly<Record<string, Described>> }>>>
  >;
  readonly components: {
    readonly schemas: Readonly<Record<string, { properties?: object; additionalProperties?: boolean }>>;
    readonly responses: Readonly<Record<string, Described>>;
  };
}
/** What the generated client has, as far as it is called here. */
interface Client {
  readonly OpenAPI: { BASE: string; TOKEN?: string };
  readonly ApiError: new () => { readonly status: number; readonly body: Readonly<Record<string, unknown>> };
  readonly HooksService: {
    wake(body: object, key?: string): Promise<{ readonly id: string }>;
    startRun(body: object, key?: string, prefer?: string): Promise<{ readonly runId: string }>;
    sendHook(name: string, body: unknown): Promise<{ readonly ids: readonly string[] } | undefined>;
    getRun(id: string): Promise<object>;
  };
  readonly HealthService: { getHealth(): Promise<object>; getReadiness(): Promise<object> };
}

const document = JSON.parse(readFileSync(join(ROOT, 'schemas/openapi.json'), 'utf8')) as Document;
let folder: string;
let service: Service;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-openapi-'));
  const mappings = [
    { id: 'each', match: { path: 'each' }, forEach: 'items', action: 'wake', textTemplate: '{{item}}' },
  ];
  writeFileSync(
    join(folder, 'sluice.json'),
    JSON.stringify({
      hooks: { enabled: true, token: TOKEN, exposeRuns: true, mappings },
      server: { port: 0, stopGraceSeconds: 0.1 },
      gateway: { heartbeat: { everySeconds: 0 } },
    }),
  );
  const log = createLogger({ destination: { write: () => true } });
  service = await startService({ configFile: join(folder, 'sluice.json'), env: {}, log });
});

afterAll(async () => {
  await service.stop();
  rmSync(folder, { recursive: true, force: true });
});

test('a public validator takes the document', async () => {
  const result = await new Validator().validate({ ...structuredClone(document) });
  expect(result).toEqual({ valid: true });
  const without = { ...structuredClone(document), paths: { '/wake': { post: { parameters: [{}] } } } };
  expect(await new Validator().validate(without)).toMatchObject({ valid: false });
});

test('a client made from it posts a wake and a run, waits, and reads the status', async () => {
  const input = join(ROOT, 'schemas/openapi.json');
  await generate({ input, output: join(folder, 'client'), httpClient: 'fetch' });
  const outfile = join(folder, 'client.mjs');
  await build({ entryPoints: [join(folder, 'client/index.ts')], bundle: true, format: 'esm', outfile });
  const { OpenAPI, ApiError, HooksService, HealthService } = (await import(
    pathToFileURL(outfile).href
  )) as Client;
  OpenAPI.BASE = `${service.url}/hooks`;
  const refused = await HooksService.wake({ text: 'x' }).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(ApiError);
  expect(refused).toMatchObject({ status: 401, body: { code: 'unauthorized' } });
  OpenAPI.TOKEN = TOKEN;
  const first = await HooksService.wake({ text: 'disk is full' }, 'key-1');
  expect(await HooksService.wake({ text: 'disk is full' }, 'key-1')).toEqual({ ...first, duplicate: true });
  const run = { message: 'What changed?', deliver: false };
  const ended = await HooksService.startRun(run, undefined, 'wait=20');
  expect(ended).toMatchObject({ ok: true, state: 'completed', outcome: 'ok' });
  expect(await HooksService.getRun(ended.runId)).toMatchObject({ runId: ended.runId, outcome: 'ok' });
  expect((await HooksService.sendHook('each', { items: ['a', 'b'] }))?.ids).toHaveLength(2);
  expect(await HooksService.sendHook('each', { items: [] })).toBeUndefined();
  OpenAPI.BASE = service.url;
  expect(await HealthService.getHealth()).toEqual({ ok: true });
  expect(await HealthService.getReadiness()).toMatchObject({ ready: true });
});

interface Asked {
  readonly path: string;
  readonly method?: 'get' | 'post';
  readonly address?: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}
const ASKED: readonly Asked[] = [
  { path: '/wake', body: '{"text":"a","mode":"next-heartbeat","txt":1}' },
  { path: '/wake', body: '{"text":1,"mode":"soon"}' },
  { path: '/wake', body: '{"text":' },
  { path: '/wake', body: '{}', headers: { authorization: 'Bearer wrong' } },
  { path: '/wake', body: 'x', headers: { 'content-encoding': 'br' } },
  { path: '/agent', body: '{"message":"a","deliver":false}' },
  { path: '/agent', body: '{"message":"b","deliver":false}', headers: { prefer: 'wait=20' } },
  { path: '/agent', body: '{"message":"a","channel":"pigeon"}' },
  { path: '/{name}', address: 'each', body: '{"items":["a"]}' },
  { path: '/{name}', address: 'each', body: '{"items":["a","b"]}' },
  { path: '/{name}', address: 'nobody', body: '{}' },
  { path: '/runs/{id}', method: 'get', address: 'runs/0d3c6ff7-3a8b-4dc2-9d43-0d2d8a3c5b11' },
  { path: '/runs/{id}', method: 'get', address: 'runs/LAST' },
  { path: '/healthz', method: 'get', address: '../healthz' },
  { path: '/readyz', method: 'get', address: '../readyz' },
];

test('every answer is of a status, a type and a schema that the document has, and has no other member', async () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  const closed = structuredClone(document);
  for (const schema of Object.values(closed.components.schemas))
    if (schema.properties !== undefined) schema.additionalProperties = false;
  ajv.addSchema(closed, 'openapi');
  const seen: string[] = [];
  let last = '';
  for (const { path, method = 'post', address = path.slice(1), body, headers = {} } of ASKED) {
    const response = await fetch(new URL(address.replace('LAST', last), `${service.url}/hooks/`), {
      method,
      ...(body !== undefined && { body }),
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json', ...headers },
      signal: AbortSignal.timeout(120_000),
    });
    const said = closed.paths[path]?.[method]?.responses[response.status];
    const described = said?.$ref ? closed.components.responses[said.$ref.split('/').at(-1)!] : said;
    const type = response.headers.get('content-type')?.split(';')[0] ?? '';
    const schema = described?.content?.[type]?.schema.$ref;
    expect(schema, `${path} ${response.status} ${type}`).toBeDefined();
    const value: unknown = await response.json();
    const isRight = ajv.getSchema(`openapi${schema}`)!;
    expect(isRight(value), `${JSON.stringify(value)}\n${ajv.errorsText(isRight.errors)}`).toBe(true);
    seen.push(`${path} ${response.status}`);
    ({ runId: last = last } = value as { readonly runId?: string });
  }
  expect(seen).toEqual(
    expect.arrayContaining(['/wake 200', '/wake 400', '/wake 401', '/wake 415', '/agent 200', '/agent 202']),
  );
  expect(seen).toEqual(
    expect.arrayContaining(['/{name} 200', '/{name} 404', '/runs/{id} 404', '/runs/{id} 200']),
  );
});
