import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { kindsOfPath, payloadTypes } from '../../../src/authoring/advice/samples.ts';
import { parseDocument } from '../../../src/base/document/facts.ts';
import { findInSamples, mutantsOf } from '../../../src/authoring/golden/golden.ts';
import { createHookRequest } from '../../../src/engine/hook/hook.ts';
import { parseJson } from '../../../src/base/json.ts';
import { openBench } from '../../support/cli-service.ts';
import { codesOf, compileList, tableOf } from '../../support/mapping-compile.ts';
import { said } from '../../support/said.ts';

const ISSUES = {
  id: 'issue',
  match: { path: 'github', when: { '===': [{ var: 'headers.x-github-event' }, 'issues'] } },
  messageTemplate: '{{issue.titel}}',
};

function find(files: Readonly<Record<string, string>>, mappings: readonly object[] = [ISSUES]) {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-samples-'));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  const folders = { samplesDir: join(folder, 'samples'), casesDir: join(folder, 'golden') };
  return findInSamples(folders, { table: tableOf(compileList(mappings)) });
}

const TITLE = '{"issue": {"title": "red"}}';

test('a payload counts as sent with the event that its name begins with', async () => {
  const { findings, notes } = await find({ 'samples/github/issues.opened.json': TITLE });
  expect(codesOf(findings)).toEqual(['TEMPLATE_UNKNOWN_PATH (warning)']);
  expect(notes).toEqual([]);
});

test('a payload of another event says nothing of a mapping, and what was not checked is named', async () => {
  const { findings, notes } = await find({ 'samples/github/issueses.json': TITLE });
  expect(findings.filter(({ isGeneral }) => isGeneral !== true)).toEqual([]);
  expect(notes.join()).toContain('issue');
});

test.each(['…(6 characters)', '***', '[removed]'])(
  'a value that was not kept, %s, decides nothing',
  async (event) => {
    const sent = (body: string) =>
      `path: github\nheaders: {x-github-event: '${event}'}\nbody: {kind: '${event}', ${body}}\n`;
    const files = Object.fromEntries(
      ['a', 'b', 'c', 'd'].map((name) => [`golden/${name}.request.yaml`, sent(`${name}: 1`)]),
    );
    const kind = {
      match: { path: 'github', when: { '===': [{ var: 'kind' }, 'open'] } },
      messageTemplate: 'x',
    };
    expect((await find(files, [ISSUES, kind])).findings).toEqual([]);
  },
);

test('without a sample nothing is said', async () => {
  expect(await find({})).toEqual({ findings: [], ignored: [], notes: [] });
});

test('golden cases are samples, and what an expectation lists as empty is known', async () => {
  const request = (body: string) => `path: github\nheaders: {x-github-event: issues}\nbody: ${body}\n`;
  const mapping = { ...ISSUES, messageTemplate: 'by {{issue.user}}' };
  const files = { 'golden/b.request.yaml': request('{issue: {}}') };
  const { findings } = await find(files, [mapping]);
  expect(codesOf(findings)).toEqual(['TEMPLATE_UNKNOWN_PATH (warning)']);
  const known = { ...files, 'golden/b.expected.yaml': 'format: 1\nempty: ["messageTemplate: issue.user"]\n' };
  expect((await find(known, [mapping])).findings).toEqual([]);
});

test('a payload that cannot be read is an error with its place', async () => {
  const { findings } = await find({ 'samples/github/a.json': '{"issue": ' });
  expect(codesOf(findings)).toEqual(['JSON_SYNTAX']);
  expect(findings[0]?.at?.source.file).toContain('a.json');
});

test.each([
  ['samples/github/a.request.yaml', 'path: github\nbodyy: {}\n', 'bodyy'],
  ['golden/a.request.yaml', 'path: github\nbodyy: {}\n', 'bodyy'],
  ['golden/a.request.yaml', 'path: github\nbody: {}\n', undefined],
])('a case that cannot be read is told, not passed over: %s', async (file, text, key) => {
  const { findings } = await find({ [file]: text });
  const errors = findings.filter(({ severity }) => severity === 'error');
  expect(errors.map(({ at }) => at?.source.text.slice(at.start, at.end))).toEqual(
    key === undefined ? [] : [key],
  );
});

test('the elements of forEach are counted, and their fields named with item', async () => {
  const mapping = { match: { path: 'am' }, forEach: 'alerts', messageTemplate: '{{item.lables.name}}' };
  const { findings } = await find(
    { 'samples/am/a.json': '{"alerts": [{"labels": {"name": "x"}}, {"labels": {"name": "y"}}]}' },
    [mapping],
  );
  expect(said(findings[0]?.message)).toBe('item.lables.name is absent in 2 of 2 elements in 1 sample of am');
  expect(said(findings[0]?.hint)).toBe('did you mean item.labels.name?');
});

test('a field of which nothing shows what was meant is a note below what is sure, and counts with --strict', async () => {
  const bench = openBench({
    'sluice.yaml': 'hooks: { enabled: true }\ngateway: { runners: { default: { kind: echo } } }\n',
    'mappings/shop.yaml': "match: { path: shop }\nmessageTemplate: '{{numbr}} {{project}}'\n",
    'samples/shop/a.json': '{"number": 7}',
  });
  const { out } = await bench.run(['check']);
  expect(out).toMatch(
    /warning TEMPLATE_UNKNOWN_PATH: numbr is absent[^]*\nproject is absent in 1 of 1 sample of shop/,
  );
  const strict = await bench.run(['check', '--strict', '--format', 'json']);
  expect(strict.out.match(/TEMPLATE_UNKNOWN_PATH/g)).toHaveLength(2);
});

test.each([
  ['{{commits}} {{#each comits}}x{{/each}}', []],
  ['{{default commit commits}}', []],
  ['{{length comits}}', []],
  ['{{comits}}', ['did you mean commits?']],
])('of a guarded path in %s is said %j', async (messageTemplate, told) => {
  const { findings } = await find({ 'samples/a/a.json': '{"commits": [{"id": 1}]}' }, [
    { match: { path: 'a' }, messageTemplate },
  ]);
  expect(findings.map(({ hint }) => said(hint))).toEqual(told);
});

test.each([
  ['incidnet.state', 'open', 'CONDITION_UNKNOWN_PATH (warning)'],
  // What only other events have is no slip.
  ['refund.kind', 'full', undefined],
])('of a condition that reads %s and asks for %s is said %s', async (name, wanted, code) => {
  const when = { '===': [{ var: name }, wanted] };
  const { findings } = await find({ 'samples/a/a.json': '{"incident": {"state": "open"}}' }, [
    { match: { path: 'a', when }, messageTemplate: 'x' },
  ]);
  expect(codesOf(findings)).toEqual(code === undefined ? [] : [code]);
});

test('a question for an address is no event', async () => {
  const mapping = { match: { path: 'slack' }, challenge: 'slack', messageTemplate: '{{event.text}}' };
  const { findings } = await find(
    { 'samples/slack/check.json': '{"type": "url_verification", "token": "t", "challenge": "c"}' },
    [mapping],
  );
  expect(findings).toEqual([]);
});

test('requests that a service kept are samples, too', async () => {
  const table = tableOf(compileList([{ match: { path: 'shop' }, messageTemplate: '{{numbr}}' }]));
  const request = createHookRequest({ path: 'shop', headers: {}, payload: { number: 7 }, receivedAt: 0 });
  const nowhere = { samplesDir: '/nowhere', casesDir: '/nowhere' };
  const { findings } = await findInSamples(nowhere, { table }, [{ request }]);
  expect(findings.map(({ hint }) => said(hint))).toEqual(['did you mean number?']);
});

const typesOf = (when: object, payloads: readonly string[]): string => {
  const table = tableOf(compileList([{ match: { path: 'my-shop', when }, messageTemplate: 'x' }]));
  const samples = payloads.map((text) => {
    const content = { path: 'my-shop', headers: {}, payload: parseJson(text), receivedAt: 0 };
    return { request: createHookRequest(content) };
  });
  return payloadTypes('my-shop', kindsOfPath(table, 'my-shop', samples));
};

test('each kind is a type with the texts that tell it, and the payload one of them', () => {
  const text = typesOf({ in: [{ var: 'kind' }, ['order', 'refund']] }, [
    '{"kind": "order", "id": 820982911946154508, "lines": [{"sku": "a"}, {"sku": "b", "gift-wrap": true}]}',
    '{"kind": "order", "id": 2, "lines": [], "note": null}',
    '{"kind": "refund", "of": {"id": 1}}',
  ]);
  expect(text).toBe(`// Written by "sluice types my-shop" from samples: run it again where they change.

/** 2 samples of order. */
export type OrderMyShopPayload = {
  readonly kind: "order";
  readonly id: number;
  readonly lines: readonly ({
      readonly sku: string;
      readonly "gift-wrap"?: boolean;
    })[];
  readonly note?: null;
};

/** 1 sample of refund. */
export type RefundMyShopPayload = {
  readonly kind: "refund";
  readonly of: {
    readonly id: number;
  };
};

export type MyShopPayload = OrderMyShopPayload | RefundMyShopPayload;
`);
});

test('of several kinds the one that nothing tells is another, and no type has the name of the whole', () => {
  const text = typesOf({ '===': [{ var: 'kind' }, 'order'] }, ['{"id": 1}', '{"kind": "order"}']);
  expect(text).toContain('export type MyShopPayload = OtherMyShopPayload | OrderMyShopPayload;');
});

test('one kind alone is the payload, and values of several kinds are a union', () => {
  const text = typesOf({ '!!': { var: 'id' } }, ['{"id": 1}', '{"id": "a"}', '{"id": null, "list": []}']);
  expect(text).toContain('export type MyShopPayload = {\n  readonly id: number | string | null;\n');
  expect(text).toContain('readonly list?: readonly (unknown)[];');
});

/* Changes of mappings that golden cases are to notice. */

const rootOf = (text: string) => {
  const { document } = parseDocument({ file: 'a.yaml', text }, 'yaml');
  if (document === undefined) throw new Error(text);
  return document.root;
};

const TWO = `- id: order
  match: { path: shop, when: { and: [{ '===': [{ var: kind }, order] }, { '>': [{ var: total }, 10] }] } }
  deliver: false
  dedupe: { key: '{{id}}' }
  messageTemplate: 'Order {{number}}{{#if vip}} of {{name}}{{else}}{{/if}}'
- id: rest
  match: { path: shop }
  messageTemplate: x
`;

test('each change is one of the whole file, and says what it is', () => {
  const mutants = mutantsOf(rootOf(TWO));
  expect(mutants.map(({ what }) => what)).toEqual([
    'the condition is negated',
    '"and" becomes "or"',
    '"===" becomes "!=="',
    '"order" becomes another text',
    'part 1 of "and" is dropped',
    '">" becomes ">="',
    '10 becomes one more',
    'part 2 of "and" is dropped',
    'deliver is dropped',
    'dedupe is dropped',
    '{{id}} is dropped from dedupe',
    '{{number}} is dropped from messageTemplate',
    '{{name}} is dropped from messageTemplate',
    'it changes places with the next one',
  ]);
  expect(mutants.every(({ mapping, path }) => mapping === 'order' && path === 'shop')).toBe(true);
  const first = JSON.parse(mutants[1]?.text ?? '') as readonly { readonly match: object }[];
  expect(first).toHaveLength(2);
  expect(first[0]?.match).toMatchObject({ when: { or: [{ '===': [{ var: 'kind' }, 'order'] }, {}] } });
});

test.each([
  [
    'mappings:\n- match: { path: a }\n  messageTemplate: "{{b}}"\n',
    '[{"match":{"path":"a"},"messageTemplate":""}]',
  ],
  ['match: { path: a }\nmessageTemplate: "{{b}}"\n', '{"match":{"path":"a"},"messageTemplate":""}'],
])('a file of the form %j keeps what it holds', (text, changed) => {
  expect(mutantsOf(rootOf(text)).map((mutant) => mutant.text)).toEqual([changed]);
});

const SHOP = {
  'sluice.yaml': 'hooks: { enabled: true }\ngateway: { runners: { default: { kind: echo } } }\n',
  'mappings/shop.yaml': `- id: order
  match: { path: shop, when: { '>': [{ var: total }, 10] } }
  messageTemplate: 'Order {{number}}'
`,
  'test/golden/shop/large.request.yaml': 'path: shop\nbody: { total: 20, number: 7 }\n',
};

test('what no case notices is told with the request that would tell, and is noticed once that is a case', async () => {
  const bench = openBench(SHOP);
  const first = await bench.run(['test', '--mutate', '--keep']);
  expect(first.exitCode).toBe(1);
  expect(first.out).toContain(
    'mappings/shop.yaml:2:30  order: ">" becomes ">="\n  written: test/golden/shop/',
  );
  expect(first.out).toContain('golden cases notice 2 of 4 changes of mappings (50%)');
  const again = await bench.run(['test', '--mutate']);
  expect([again.out, again.exitCode]).toEqual([expect.stringContaining('notice 4 of 4'), 0]);
});
