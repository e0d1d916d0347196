import { expect, test } from 'vitest';
import type { AgentAction } from '../../../src/base/action.ts';
import { evaluateHook, settingsWith } from '../../support/hook-fixture.ts';

const TABLE = `
- {id: gh, match: {path: github}, messageTemplate: "{{text}}", sessionKey: "gh:{{repo}}"}
- {match: {path: made}, transform: made.ts}
- {id: agent, match: {path: named}, messageTemplate: "{{text}}"}
`;

function evaluate(path: string, payload: Readonly<Record<string, string>>, shared: readonly string[] = []) {
  const sessionKeys = { allowFromRequest: true, allowedPrefixes: [], shared };
  const settings = settingsWith({ table: TABLE, sessionKeys });
  const answer = () => ({ value: { message: 'made', sessionKey: 'made:1' } });
  const { outcome, warnings } = evaluateHook({ path, payload: { ...payload } }, settings, {
    answer,
  }).evaluation;
  if (outcome.kind !== 'accepted') throw new Error(outcome.kind);
  const { owner, sessionKey } = outcome.actions[0] as AgentAction;
  return { owner, sessionKey, warnings: warnings.map(({ code }) => code) };
}

test('a conversation belongs to the mapping by its id, or to the senders of bodies, whatever the key says', () => {
  expect(evaluate('github', { repo: 'a/b', text: 'x' })).toEqual({
    owner: 'mapping:gh',
    sessionKey: 'gh:a/b',
    warnings: [],
  });
  expect(evaluate('agent', { message: 'x', sessionKey: 'gh:a/b' })).toMatchObject({
    owner: 'request',
    sessionKey: 'gh:a/b',
  });
  expect(evaluate('agent', { message: 'x' })).toMatchObject({ owner: 'request' });
  expect(evaluate('named', { text: 'x' })).toMatchObject({ owner: 'mapping:agent' });
});

test('a key under a shared prefix belongs to nobody', () => {
  expect(evaluate('github', { repo: 'a/b', text: 'x' }, ['gh:'])).toMatchObject({ owner: 'shared' });
  expect(evaluate('agent', { message: 'x', sessionKey: 'gh:1' }, ['gh:'])).toMatchObject({ owner: 'shared' });
  expect(evaluate('agent', { message: 'x', sessionKey: 'g:1' }, ['gh:'])).toMatchObject({ owner: 'request' });
});

test('a key that a transform sets takes the id made from the position of the mapping, with a warning', () => {
  expect(evaluate('made', {})).toEqual({
    owner: 'mapping:mapping-2',
    sessionKey: 'made:1',
    warnings: ['generated_mapping_id'],
  });
});
