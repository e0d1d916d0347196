import { expect, test } from 'vitest';
import { sessionIdOf } from '../../../src/service/gateway/run-turn.ts';

const mapped = { owner: 'mapping:github', key: 'hook:github:acme/app' } as const;
const now = { fromKeyOnly: false };

test('is a UUID, always the same for a conversation and another one for another owner', () => {
  const id = sessionIdOf(mapped, now);
  expect(id).toMatch(/^[\da-f]{8}-[\da-f]{4}-8[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
  expect(sessionIdOf({ ...mapped }, now)).toBe(id);
  expect(sessionIdOf({ ...mapped, owner: 'request' }, now)).not.toBe(id);
  expect(sessionIdOf({ ...mapped, key: 'hook:other' }, now)).not.toBe(id);
});

test('is the one of version 0.1.0 for stored sessions, for keys without an owner and for the main session', () => {
  // Printed by 0.1.0 for this key.
  const before = '6b9c6661-9c18-833a-9885-3d145cbcdeba';
  expect(sessionIdOf(mapped, { fromKeyOnly: true })).toBe(before);
  expect(sessionIdOf({ ...mapped, owner: 'shared' }, now)).toBe(before);
});
