import { expect, test } from 'vitest';
import { misreadArgument } from '../../src/advice/transforms/argument.ts';
import { moduleOf } from '../support/module-subject.ts';

const INPUT = { payload: { a: 1, body: 'text', events: [1, 2] }, headers: { 'x-event': 'push' } };

/** A transform, what the hint says of it, and what it returns once that is written. */
const CASES: readonly (readonly [source: string, hint: string, message: string])[] = [
  ['({ body }) => body.events.length', '({ payload: body })', '2'],
  ['({ body: order }) => order.a', '({ payload: order })', '1'],
  ['({ body: { a } }) => a', '({ payload: { a } })', '1'],
  ['({ body = {} }) => body.a', '({ payload: body = {} })', '1'],
  [
    '({ headers, body, method }) => `${headers["x-event"]}${body.a}${method}`',
    '({ headers, payload: body, method })',
    'push1undefined',
  ],
  ['({ body, a }) => body + a', '({ payload: { body, a } })', 'text1'],
  ['({ a, ...rest }) => a + rest.body', '({ payload: { a, ...rest } })', '1text'],
  ['({ a, headers }) => a + headers["x-event"]', '({ headers, payload: { a } })', '1push'],
  ['(order) => order.a', '({ payload: order }) in place of (order)', '1'],
  [
    '(order, headers) => order.a + headers["x-event"]',
    '({ payload: order, headers }) in place of (order, headers)',
    '1push',
  ],
  ['(payload) => payload.a', '({ payload }) in place of (payload)', '1'],
  ['(input) => input.body.events.length', 'input.payload in place of input.body', '2'],
  ['(input) => input.body.a + input.headers["x-event"]', 'input.payload in place of input.body', '1push'],
  [
    '(input) => input.a + input.headers["x-event"]',
    'input.payload.a in place of input.a, and so for each field of the body',
    '1push',
  ],
];

test.each(CASES)('advises %s so that it runs', async (source, meant, message) => {
  const finding = misreadArgument(await moduleOf(`export default ${source};`));
  expect(finding?.hint).toBe(`the body is its payload: write ${meant}`);
  const [to = '', from] = meant.replace(/, and so.*/, '').split(' in place of ');
  const pattern = source.slice(0, source.indexOf(' =>'));
  const mended = source.replace(from ?? pattern, to);
  const url = `data:text/javascript,${encodeURIComponent(`export default ${mended};`)}`;
  const { default: transform } = (await import(url)) as { readonly default: (input: object) => unknown };
  expect(String(transform(INPUT))).toBe(message);
});

test.each([
  ['({ payload, headers }) => headers["X-Event"] + payload.a', 'write headers["x-event"]'],
  ['({ payload, headers }) => headers.get("X-Event") + payload.a', 'write headers["x-event"]'],
  ['(input) => input.headers["X-Event"] + input.payload.a', 'write input.headers["x-event"]'],
  ['({ payload, headers }) => headers["x-event"] + payload.a', undefined],
  ['({ payload }) => { const headers = payload.h; return headers["X-A"]; }', undefined],
])('a header by another name than it has here: %s', async (source, hint) => {
  const finding = misreadArgument(await moduleOf(`export default ${source};`));
  expect(finding?.hint).toBe(hint);
});

test.each([
  ['({ type, payload }) => type + payload.a', 'take type out of the brackets, and write payload.type'],
  ['({ payload, headers, debug = false }) => payload.a + debug', undefined],
])('a field of the body beside the body: %s', async (source, hint) => {
  const finding = misreadArgument(await moduleOf(`export default ${source};`));
  if (hint === undefined) expect(finding).toBeUndefined();
  else expect(finding?.hint).toContain(hint);
});
