import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { type Sender, shippedSenders } from '../../../src/engine/senders/senders.ts';
import { SCHEMES } from '../../../src/engine/verify/verify.ts';
import type { Scheme, Way } from '../../../src/engine/verify/scheme.ts';
import { coverageOf } from '../../../src/engine/verify/ways.ts';

const page = readFileSync(new URL('../../../docs/senders.md', import.meta.url), 'utf8');

test('the table of schemes in the documentation is the table of the code', () => {
  const rows = [
    ...page.matchAll(
      /^\| `([a-z-]+)` +\| ([A-Z]\w*(?: \w+)?) +\| (.*?) +\| (.*?) +\| (.*?) +\| (.*?) +\|$/gm,
    ),
  ].map(([, name, provider, , covers, replay, delivery]) => ({ name, provider, covers, replay, delivery }));
  expect(rows.filter(({ name }) => name !== 'scheme')).toEqual(
    Object.entries(SCHEMES as Readonly<Record<string, Scheme>>).map(([name, scheme]) => ({
      name,
      provider: senderOf(name)?.title,
      covers: describeCoverage(scheme),
      replay: describeReplay(scheme),
      delivery: unsignedId(senderOf(name)),
    })),
  );
});

/** What the table of the documentation says of a provider, one word for each different way. */
function describeCoverage({ ways }: Pick<Scheme, 'ways'>): string {
  return [...new Set(ways.map(({ way }) => wordsOf(way)))].join('; or ');
}

function wordsOf(way: Way): string {
  if (way.kind === 'mailgun') return 'a time and a token';
  const { body, url } = coverageOf(way);
  const parts = [...(url ? ['address'] : []), ...(body ? ['body'] : [])];
  return parts.length === 0 ? 'nothing: a secret' : parts.join(', ');
}

const senderOf = (name: string) => shippedSenders().find((each) => each.name === name);

/** A header that no proof covers. */
function unsignedId({ id = '', deliveryHeaders = [] }: Partial<Sender> = {}): string {
  const header = /^headers\.(?!webhook-id)(.*)/.exec(id)?.[1] ?? deliveryHeaders[0];
  return header === undefined ? '–' : `\`${header}\``;
}

/** What stands against a second sending of the same request, in a line for each different way of a provider. */
function describeReplay({ ways, toleranceSeconds = 300 }: Scheme): string {
  const words = ways.map(({ way }) => {
    const { signed, timestampMember } =
      way.kind === 'signature'
        ? way.columns
        : { signed: way.kind.startsWith('m') ? '{timestamp}{id}' : '', timestampMember: undefined };
    // A timestamp in the JSON body is signed with the body.
    const isTimeSigned =
      signed.includes('{timestamp}') || (timestampMember !== undefined && signed.includes('{body}'));
    const known = [
      ...(isTimeSigned ? [`signed time, ${String(toleranceSeconds)} s both ways`] : []),
      ...(signed.includes('{id}') ? ['signed id'] : []),
    ];
    return known.length === 0 ? 'none possible' : known.join(', ');
  });
  return [...new Set(words)].join('; or ');
}
