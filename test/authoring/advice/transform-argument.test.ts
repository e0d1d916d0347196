import { expect, test } from 'vitest';
import { misreadArgument } from '../../../src/authoring/advice/transforms/argument.ts';
import { moduleOf } from '../../support/module-subject.ts';
import { said } from '../../support/said.ts';

const INPUT = { payload: { a: 1, body: 'text', events: [1, 2] }, headers: { 'x-event': 'push' } };

/** A transform, what the hint says of it, and what it returns once that is written. */
const CASES: readonly (readonly [source: string, hint: string, message: string])[] = [
  ['({ a }) => a', 'payload: { a } in their place', '1'],
  ['({ a, body }) => a + body', 'payload: { a, body } in their place', '1text'],
  ['(order) => order.a', 'order.payload.a in place of order.a', '1'],
  ['(payload) => payload.a', '({ payload }) in place of (payload)', '1'],
  ['(input) => input.body.events.length', 'input.payload in place of input.body', '2'],
  ['(input) => input.a + input.headers["x-event"]', 'input.payload.a in place of input.a', '1push'],
];

test.each(CASES)('advises %s so that it runs', async (source, meant, message) => {
  const [finding] = misreadArgument(await moduleOf(`export default ${source};`));
  expect(said(finding?.hint)).toBe(`write ${meant}: the body is its payload`);
  const [to = '', from = ''] = meant.split(/ in (?:place of |their place)/);
  const taken = /\{ (.*) \}/.exec(source)?.[1] ?? '';
  const mended = source.replace(from === '' ? taken : from, to);
  const url = `data:text/javascript,${encodeURIComponent(`export default ${mended};`)}`;
  const { default: transform } = (await import(url)) as { readonly default: (input: object) => unknown };
  expect(String(transform(INPUT))).toBe(message);
});

test.each<[source: string, exports: string, hint: string]>([
  [
    'export function take(payload) { if (!payload.text) return null; return { message: payload.text }; }',
    'take',
    '({ payload }) in place of (payload)',
  ],
  [
    'function make(event) { return { message: event.text }; }\nexport { make as take };',
    'take',
    'event.payload.text in place of',
  ],
  [
    'const take = (event) => ({ message: event.text });\nexport { take };',
    'take',
    'event.payload.text in place of',
  ],
  [
    'export default (ctx) => { const { body } = ctx; return body.a; };',
    'default',
    'ctx.payload in place of ctx',
  ],
  [
    'export default function (payload) { const { text } = payload; return text; }',
    'default',
    '({ payload }) in place of (payload)',
  ],
  ['export default (payload) => payload["text"];', 'default', '({ payload }) in place of (payload)'],
  ['export default ({ text = "none" }) => text;', 'default', 'payload: { text = "none" } in their place'],
  ['export const take = async (ctx) => ctx.body.a;', 'take', 'ctx.payload in place of ctx.body'],
])('%s, used as %s', async (source, used, hint) => {
  const [finding] = misreadArgument(await moduleOf(source, 'esm', [used]));
  expect(said(finding?.hint)).toContain(`write ${hint}`);
});

test.each([
  ['export const other = (event) => event.text;\nexport default ({ payload }) => payload.a;', 'default'],
  ['export const take = ({ payload }) => payload.a;\nexport default (event) => event.text;', 'take'],
  [
    'export default (input) => { const { payload, ...rest } = input; return payload.a + rest.path; };',
    'default',
  ],
  ['export default (event) => event.text;', 'none'],
])('nothing is found in %s, used as %s', async (source, used) => {
  expect(misreadArgument(await moduleOf(source, 'esm', used === 'none' ? [] : [used]))).toEqual([]);
});

test('of TypeScript what is no defineTransform', async () => {
  const source =
    'type Body = { text: string };\nexport default function (payload: Body) { return payload.text; }';
  const [finding] = misreadArgument(await moduleOf(source, 'typescript'));
  expect(said(finding?.hint)).toContain('({ payload }) in place of');
});

test('the body by the name that other tools give it', async () => {
  const [finding] = misreadArgument(await moduleOf('export default ({ body: order }) => order.a;'));
  expect(said(finding?.hint)).toBe('write payload in place of body: the body is its payload');
});

test.each([
  ['({ type, payload }) => type + payload.a', 'write payload.type: the body is its payload'],
  ['({ payload, headers, debug = false }) => payload.a + debug', undefined],
])('a field of the body beside the body: %s', async (source, hint) => {
  const [finding] = misreadArgument(await moduleOf(`export default ${source};`));
  if (hint === undefined) expect(finding).toBeUndefined();
  else expect(said(finding?.hint)).toContain(hint);
});
