/** No key of a mapping or of a request file may be a promise: each one changes what becomes of a request. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { limitRules } from '../../src/service/generation/live-generation.ts';
import { readRequestFile, requestFileSchema } from '../../src/authoring/golden/golden.ts';
import type { RequestContent } from '../../src/engine/hook/ids.ts';
import { mappingJsonSchema } from '../../src/engine/mapping/facts.ts';
import { evaluateHook, settingsWith } from '../support/hook-fixture.ts';
import { codesOf, compileList } from '../support/mapping-compile.ts';
import { instancesOf, schemaKeys, without } from '../support/schema-keys.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** Every key of a mapping, with a value that is not its default; two mappings, as `textTemplate` belongs to wakes. */
const MAPPINGS = [
  {
    id: 'off',
    enabled: false,
    match: { path: 'h' },
    action: 'skip',
  },
  {
    id: 'orders',
    match: { path: 'h', source: 'shop', when: { '===': [{ var: 'headers.x-kind' }, 'order'] } },
    continue: true,
    action: 'agent',
    name: 'Orders',
    wakeMode: 'next-heartbeat',
    sessionKey: 'hook:order:{{item.id}}',
    instructions: 'Read the order.',
    messageTemplate: 'Order {{item.id}}',
    summary: 'failures',
    deliver: false,
    channel: 'slack',
    to: 'C0123456',
    thread: '{{item.ts}}',
    reaction: { seen: 'eyes', done: '+1', failed: 'confused' },
    model: 'local/small',
    thinking: 'high',
    timeoutSeconds: 7,
    allowUnsafeExternalContent: true,
    transform: {
      module: 'orders.ts',
      export: 'run',
      timeoutMs: 10,
      memoryMb: 8,
      maxResultBytes: 100,
      maxLogBytes: 100,
      reuse: true,
      jit: true,
      env: { TEAM: 'red' },
    },
    forEach: 'items',
    runner: 'agent',
    cwd: 'web',
    fallback: { channel: 'discord', to: '123456789012345678' },
    callbackUrl: 'https://example.org/done',
    dedupe: { key: '{{id}}', ttlSeconds: 60 },
    debounce: { key: '{{item.id}}', seconds: 30, maxSeconds: 60, keep: 'latest' },
    limits: { runsPerHour: 60, runsPerHourAndSession: 20, usdPerDay: 5 },
    maxRuns: { key: '{{item.id}}', runs: 2 },
    retry: { on: ['timeout', 'exit'], attempts: 2, delaySeconds: 5, afterCrash: 'never' },
    maxBodyBytes: 1000,
    otherwise: 'skip',
    lists: ['order.items'],
    keepRequests: 'none',
  },
  {
    id: 'asked',
    match: { path: 'asked' },
    messageTemplate: 'x',
    approve: { channel: 'slack', to: 'C0123456', withinSeconds: 60 },
  },
  {
    id: 'talks',
    match: { path: 'talks' },
    sessionKey: 'hook:{{id}}',
    messageTemplate: 'x',
    conversation: {
      owner: 'us',
      keys: ['hook:also:{{id}}'],
      agentKeys: ['hook:'],
      mark: true,
      start: false,
      keySeconds: 60,
      waitSeconds: 5,
    },
  },
  {
    id: 'ends',
    match: { path: 'ends' },
    messageTemplate: 'x',
    conversation: { end: 'now' },
  },
  { id: 'also', match: { path: 'h', source: 'shop' }, messageTemplate: 'x' },
  {
    id: 'signed',
    match: { path: 'signed' },
    messageTemplate: 'x',
    verify: { scheme: 'github', secrets: ['${SECRET}', { file: 'old' }], toleranceSeconds: 60 },
    requireToken: true,
    allowFrom: ['192.0.2.0/24'],
    bodyFormat: 'form',
    challenge: { kind: 'slack', token: { file: 'token' } },
    answer: { status: 201, body: 'taken', contentType: 'text/html' },
    rate: { perMinute: 60, burst: 5 },
    recover: {
      token: { file: 'asking' },
      target: 'owner/name',
      sender: 'github',
      hook: '12',
      api: 'https://github.example.com',
      everySeconds: 60,
      maxAgeSeconds: 3600,
      max: 10,
      reactivate: true,
      fetched: 'refuse',
    },
  },
  {
    id: 'hmac',
    match: { path: 'hmac' },
    messageTemplate: 'x',
    verify: {
      scheme: 'hmac',
      secrets: ['${SECRET}'],
      algorithm: 'sha512',
      header: 'x-signature',
      encoding: 'base64',
      prefix: 'v1=',
      separator: ';',
      assign: ':',
      signatureField: 's',
      timestampField: 't',
      timestampHeader: 'x-time',
      timestampMember: 'at',
      timestampUnit: 'milliseconds',
      idHeader: 'x-id',
      signed: '{id}.{timestamp}.{url}',
      secretEncoding: 'hex',
      secretPrefix: 'k_',
      acceptUncovered: 'known',
    },
    method: 'GET',
  },
  {
    id: 'oidc',
    match: { path: 'oidc' },
    messageTemplate: 'x',
    verify: {
      scheme: 'oidc',
      issuer: 'https://accounts.example.org',
      audience: ['hooks'],
      jwksUri: 'https://accounts.example.org/keys',
      claims: { email: 'push@example.org' },
    },
  },
  {
    id: 'basic',
    match: { path: 'basic' },
    messageTemplate: 'x',
    verify: { scheme: 'basic', user: 'ops', secrets: ['${SECRET}'] },
  },
  {
    id: 'alarm',
    match: { path: 'alarm' },
    action: 'wake',
    textTemplate: 'Alarm {{id}}',
    challenge: { probe: 'HEAD' },
  },
  {
    id: 'comment',
    match: { path: 'comment' },
    action: 'notify',
    messageTemplate: 'x',
    channel: 'slack',
    to: '{{channel}}',
    trust: ['to'],
  },
  { id: 'link', match: { path: 'link' }, messageTemplate: 'x', callbackUrl: { file: 'url' } },
  {
    id: 'quiet',
    match: { path: 'quiet' },
    messageTemplate: 'x',
    ignoreSenders: { names: ['mona'], from: '{{user}}' },
    challenge: { echo: 'query.challenge', as: 'json', name: 'answer' },
  },
  { id: 'short', match: { path: 'github' }, messageTemplate: 'x', startedBy: 'write' },
  {
    id: 'gated',
    match: { path: 'gated' },
    messageTemplate: 'x',
    startedBy: {
      permission: 'write',
      accounts: ['ann'],
      bots: false,
      sender: 'github',
      account: '{{by}}',
      role: '{{may}}',
    },
  },
  {
    id: 'others',
    match: { path: 'gitlab' },
    messageTemplate: 'x',
    approve: { channel: 'slack', to: 'C0123456' },
    startedBy: { permission: 'write', others: 'approve', token: { file: 'reader' } },
  },
] as const;

const payload = { id: 'p1', source: 'shop', items: [{ id: 1, ts: '5.1' }, { id: 2 }] };

/** Requests that every mapping above takes, and some that a part of `match` keeps out. */
const REQUESTS: readonly Partial<RequestContent>[] = [
  { path: 'h', headers: { 'x-kind': 'order' }, payload },
  { path: 'h', headers: { 'x-kind': 'refund' }, payload },
  { path: 'h', headers: { 'x-kind': 'order' }, payload: { ...payload, source: 'other' } },
  { path: 'other', headers: { 'x-kind': 'order' }, payload },
  { path: 'alarm', payload },
  { path: 'link', payload },
  { path: 'asked', payload },
  { path: 'talks', payload },
  { path: 'ends', payload },
  { path: 'comment', payload: { ...payload, channel: 'C0123456' } },
  ...['signed', 'hmac', 'oidc', 'basic'].map((path) => ({ path, payload })),
  { path: 'quiet', payload: { ...payload, user: 'Mona' } },
  ...[
    { sender: { login: 'eve' } },
    { by: 'ann' },
    { by: 'bob', may: 'admin' },
    { by: 'bob', may: 'admin', sender: { type: 'Bot' } },
    { by: 'bob', may: 'read' },
  ].map((sent) => ({ path: 'gated', payload: sent })),
  { path: 'github', payload: { sender: { login: 'eve' } } },
  { path: 'gitlab', payload: { user: { username: 'eve', id: 7 }, project: { id: 3 } } },
  { path: 'gitlab', payload: { user: { username: 'eve', id: 'x' }, project: { id: 3 } } },
];

/** All that can be seen of mappings: what they make of requests, what they ask of transforms, settings of paths. */
function observe(mappings: readonly object[]): unknown {
  const { table, findings } = compileList(mappings, {
    resolveReference: () => 'https://example.org/file',
  });
  if (table === undefined) return codesOf(findings);
  const settings = settingsWith({ table });
  const answer = (): { value: undefined } => ({ value: undefined });
  const seen = REQUESTS.map((request) => {
    const { evaluation, calls } = evaluateHook(request, settings, { answer });
    const { outcome } = evaluation;
    const became =
      outcome.kind === 'rejected'
        ? { ...outcome, error: [outcome.error.code, outcome.error.detail] }
        : outcome;
    return { outcome: became, calls, settings: table.settingsOf(request.path ?? '') };
  });
  const limits = [...(limitRules(undefined, table.mappings)?.byMapping ?? [])];
  return JSON.parse(JSON.stringify([...seen, codesOf(findings), limits])) as unknown;
}

const MAPPING_KEYS = [
  ...new Map(
    schemaKeys(mappingJsonSchema())
      // A file is a list of mappings, an object that holds one, or one mapping: the keys are the same.
      .filter(([first]) => first === '*')
      .map((path) => [path.join('.'), path]),
  ).values(),
];

test('the sample mappings have every key of the schema: a new key belongs there', () => {
  expect(MAPPING_KEYS.length).toBeGreaterThan(35);
  const missing = MAPPING_KEYS.filter((path) => instancesOf(MAPPINGS, path).length === 0);
  expect(missing.map((path) => path.join('.'))).toEqual([]);
  const kinds = [
    'accepted',
    'accepted',
    'skipped',
    'rejected',
    ...Array<string>(10).fill('accepted'),
    'skipped',
    // Who may start something.
    'skipped',
    'accepted',
    'accepted',
    'skipped',
    'skipped',
    'skipped',
    'accepted',
    'accepted',
  ];
  const warned = ['UNSAFE_CONTENT_ALLOWED (warning)', 'VERIFY_SECRET (warning)'];
  expect(observe(MAPPINGS)).toMatchObject([
    ...kinds.map((kind) => ({ outcome: { kind } })),
    warned,
    [['orders', { maxRuns: { runs: 2, isKeyed: true } }]],
  ]);
});

test.each(MAPPING_KEYS.map((path) => ({ path, name: path.slice(1).join('.') })))(
  'the key $name of a mapping changes what becomes of a request',
  ({ path }) => {
    const rest = instancesOf(MAPPINGS, path).map((instance) => observe(without(MAPPINGS, instance)));
    const whole = observe(MAPPINGS);
    expect(rest.some((seen) => JSON.stringify(seen) !== JSON.stringify(whole))).toBe(true);
  },
);

const DELIVERY = {
  path: 'github',
  headers: { 'x-github-event': 'push' },
  query: { page: '2' },
  body: { ref: 'refs/heads/main' },
  now: '2026-02-01T00:00:00Z',
};

test('every key of a request file changes the request that is evaluated', async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'body.json'), '{"from":"a file"}');
  const read = async (value: object): Promise<string> => {
    writeFileSync(join(folder, 'a.request.json'), JSON.stringify(value));
    const { case: found, findings } = await readRequestFile(join(folder, 'a.request.json'));
    const seen = found?.deliveries.map(({ request, conversations }) => ({ request, conversations }));
    return JSON.stringify(seen ?? codesOf(findings));
  };
  const { body: _, ...others } = DELIVERY;
  const conversations = [{ owner: 'github', key: 'hook:7', keys: ['hook:branch'] }];
  const samples = [
    DELIVERY,
    { ...others, bodyFile: 'body.json' },
    { ...DELIVERY, conversations },
    { deliveries: [DELIVERY, { ...DELIVERY, conversations }] },
  ];
  const keys = schemaKeys(z.toJSONSchema(requestFileSchema, { target: 'draft-07', io: 'input' }));
  expect(keys.length).toBeGreaterThan(12);
  for (const key of keys.filter((path) => path.join('.') !== 'deliveries.*.bodyFile')) {
    const sample = samples.find((one) => instancesOf(one, key).length > 0);
    expect(sample, `a sample needs the key ${key.join('.')}`).toBeDefined();
    const [instance = []] = instancesOf(sample, key);
    expect(await read(without(sample ?? {}, instance)), key.join('.')).not.toBe(await read(sample ?? {}));
  }
});
