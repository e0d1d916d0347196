/** Requests that prove nothing: what they cost before they are refused, and what a captured one can be turned into. */
import { createHmac } from 'node:crypto';
import { findCoverageGaps, createVerifier, VerifySettings } from '../../../src/engine/verify/verify.ts';
import type { Part, Row } from '../../support/parts.ts';
import { costOf, STRANGERS } from '../../engine/verify/strangers-bodies.ts';

const BYTES = 4 * 1024 * 1024;
const MAX_MS = 100;

export const proofsPart: Part = {
  name: 'proofs',
  run: async () => [...STRANGERS.map(costRow), ...(await Promise.all(CAPTURED.map(captureRow)))],
};

function costRow(stranger: (typeof STRANGERS)[number]): Row {
  costOf(stranger, 65_536);
  const ms = Math.min(...[1, 2, 3].map(() => costOf(stranger, BYTES)));
  return {
    what: `${stranger.name}, 4 MB, refused`,
    figure: `${ms.toFixed(0)} ms of processor time`,
    aim: { text: `${MAX_MS} ms at most`, met: ms <= MAX_MS },
  };
}

/** One signed request, and what its signature is tried on; settings that let it through have to be a finding. */
interface Captured {
  readonly name: string;
  readonly verify: object;
  readonly path: Parameters<typeof findCoverageGaps>[1];
  readonly signed: string;
  readonly changed: { readonly url?: string; readonly body?: string; readonly headers?: readonly string[] };
}

const URL_CALLED = 'https://hooks.example.com/hooks/x?host=a';
const hmac = { scheme: 'hmac', header: 'x-sig' };
const now = String(Math.floor(Date.now() / 1000));
const get = (verify: object, signed: string): Captured => ({
  name: `a GET with ${signed === '' ? 'a signature of its body' : 'its address signed'}, sent with another query`,
  verify,
  path: { method: 'GET' },
  signed,
  changed: { url: `${URL_CALLED}&host=b` },
});
const timed = (verify: object, signed: string): Captured => ({
  name: `a request of yesterday with the time of now, signed over ${signed === '{}' ? 'the body' : 'time and body'}`,
  verify: { ...hmac, timestampHeader: 'x-time', ...verify },
  path: {},
  signed,
  changed: { body: '{}', headers: ['x-time', now] },
});
const moved = (separator: string): Captured => ({
  name: `the first letters of a body moved to its id, which stands ${separator === '' ? 'beside it' : 'apart'}`,
  verify: { ...hmac, idHeader: 'x-id', signed: `{id}${separator}{body}` },
  path: { bodyFormat: 'text' },
  signed: `7${separator}do not delete`,
  changed: { body: ' not delete', headers: ['x-id', `7${separator}do`] },
});

const CAPTURED: readonly Captured[] = [
  get(hmac, ''),
  get({ ...hmac, signed: '{url}' }, URL_CALLED),
  timed({}, '{}'),
  timed({ signed: '{timestamp}.{body}' }, `${Number(now) - 86_400}.{}`),
  moved(''),
  moved('.'),
];

async function captureRow({ name, verify, path, signed, changed }: Captured): Promise<Row> {
  const settings = VerifySettings.parse({ ...verify, secrets: ['${A}'] });
  const proof = { settings, secrets: ['secret'] };
  const deps = { clock: Date.now, fetchJson: () => Promise.reject(new Error('nothing is fetched')) };
  const signature = createHmac('sha256', 'secret').update(signed).digest('hex');
  const judged = await createVerifier(proof, deps).prove({
    method: path.method ?? 'POST',
    url: changed.url ?? URL_CALLED,
    rawHeaders: ['x-sig', signature, ...(changed.headers ?? [])],
    body: Buffer.from(changed.body ?? ''),
  });
  const isTaken = judged.kind === 'proved';
  const isFound = findCoverageGaps(proof, path).length > 0;
  return {
    what: name,
    figure: `${isTaken ? 'taken' : 'refused'}, ${isFound ? 'an error of check' : 'no finding'}`,
    aim: { text: 'an error of check exactly where it is taken', met: isTaken === isFound },
  };
}
