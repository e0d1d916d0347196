import { moveBefore } from '../../src/advice/file-order.ts';
import { expect, test } from 'vitest';
import { printed } from '../support/printed.ts';

test.each([
  ['m/a.yaml:9:3', 'm/a.yaml:1:3', 'move two (m/a.yaml:9:3) before one (m/a.yaml:1:3)'],
  ['m/b.yaml:1:1', 'm/a.yaml:1:1', /: files are taken by their names, so rename m\/b\.yaml to m\/0-b\.yaml$/],
  ['b.yaml:1:1', '0-a.yaml:1:1', /so rename b\.yaml to 0-0-a-b\.yaml$/],
  ['b.yaml:1:1', '-a.yaml:1:1', /so write both in one file, as a list, two first$/],
  ['m/b.yaml:1:1', 'sluice.yaml:5:3', 'move two (m/b.yaml:1:1) before one (sluice.yaml:5:3)'],
])('%s comes before %s', (later, first, text) => {
  const found = printed(moveBefore({ id: 'two', at: later }, { id: 'one', at: first }));
  if (typeof text === 'string') expect(found).toBe(text);
  else expect(found).toMatch(text);
});
