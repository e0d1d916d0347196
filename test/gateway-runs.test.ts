import { expect, test } from 'vitest';
import { agentAction, openHouse } from './gateway-fixture.ts';

test('performs a run', async () => {
  const house = await openHouse();
  const action = agentAction({ message: 'hi' });
  await house.accept(action);
  expect(await house.gateway.waitForRun(action.id, 5000)).toMatchObject({ outcome: 'ok', reply: 'hi' });
  expect(await house.events()).toEqual(['Hook Test: hi']);
});
