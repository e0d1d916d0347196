import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { describeCoverage, describeReplay, type Scheme, SCHEMES } from '../../src/verify/verify.ts';

const page = readFileSync(new URL('../../docs/senders.md', import.meta.url), 'utf8');

test('the table of schemes in the documentation is the table of the code', () => {
  const rows = [
    ...page.matchAll(
      /^\| `([a-z-]+)` +\| ([A-Z]\w*(?: \w+)?) +\| (.*?) +\| (.*?) +\| (.*?) +\| (.*?) +\|$/gm,
    ),
  ].map(([, name, provider, , covers, replay, delivery]) => ({ name, provider, covers, replay, delivery }));
  expect(rows.filter(({ name }) => name !== 'scheme')).toEqual(
    Object.entries(SCHEMES as Readonly<Record<string, Scheme>>).map(([name, scheme]) => ({
      name,
      provider: scheme.provider,
      covers: describeCoverage(scheme),
      replay: describeReplay(scheme),
      delivery: scheme.deliveryHeader === undefined ? '–' : `\`${scheme.deliveryHeader}\``,
    })),
  );
});
