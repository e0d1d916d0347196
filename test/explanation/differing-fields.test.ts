/** Fields that set a request apart from the one nearest to it. */
import { expect, test } from 'vitest';
import { withDiffering } from '../../src/explanation/differing-fields.ts';
import { createHookRequest } from '../../src/hook/hook.ts';
import type { JsonObject } from '../../src/json.ts';

const requestOf = (payload: JsonObject, receivedAt: number) => ({
  ...createHookRequest({ path: 'p', payload, receivedAt }),
  id: `r${receivedAt}`,
});

test.each<[JsonObject, JsonObject, readonly string[] | undefined]>([
  [{ a: 1, b: 2, c: { d: 3 } }, { a: 1, b: 2, c: { d: 4 } }, ['c.d']],
  [{ a: 1, b: 2 }, { a: 1, b: 2 }, undefined],
  [{ a: 1, b: 2, c: { d: 3 } }, { a: 2, b: 3, c: { d: 3 } }, undefined],
])('%j beside %j', (now, other, differ) => {
  const fields = ['a', 'b', 'c.d'].map((path) => ({ path, value: '1', by: [] }));
  const far = requestOf({ a: 9 }, 9_000);
  const { beside } = withDiffering({ fields, more: 0 }, requestOf(now, 1), [far, requestOf(other, 2)]);
  expect(beside?.differ).toEqual(differ);
  if (differ !== undefined) expect(beside?.requestId).toBe('r2');
});
