/** What must hold whatever arrives: run with fixed seeds by `fuzz.test.ts`, and without end by `npm run fuzz`. */
import { said } from '../../support/said.ts';
import { ok } from 'node:assert/strict';
import { request as httpRequest } from 'node:http';
import * as fc from 'fast-check';
import { buildAgentPrompt, NeutralisedTexts } from '../../../src/base/boundary/boundary.ts';
import { chunkText } from '../../../src/service/channels/chunk.ts';
import { createVerifier, type SignedRequest, VerifySettings } from '../../../src/engine/verify/verify.ts';
import { signRequest, PROVIDER_NAMES } from '../../../src/engine/verify/facts.ts';
import { findProofFault, sayProof } from '../../../src/authoring/advice/proofs.ts';
import { BEARER, startTestServer, stopServers, type TestServer } from '../../support/server-fixture.ts';
import { type FuzzProperty, json, text, texts } from './arbitraries.ts';
import { BODY_PROPERTIES } from './body-properties.ts';
import { MAPPING_PROPERTIES } from './mapping-properties.ts';

/** A request of any bytes is answered below 500, in bounded time, and the server goes on. */
const requests: FuzzProperty = {
  name: 'requests',
  runs: 100,
  async check(parameters) {
    const server = await startTestServer({ deps: { limits: { drainMs: 100 } } });
    const name = fc.constantFrom(
      'content-type',
      'content-encoding',
      'idempotency-key',
      'prefer',
      'x-forwarded-for',
      'accept',
    );
    const value = fc.stringMatching(/^[\x20-\x7e]{0,40}$/);
    const input = fc.record({
      path: fc.stringMatching(/^\/hooks\/[\x21-\x7e]{0,30}$/),
      method: fc.constantFrom('POST', 'GET', 'PUT', 'OPTIONS'),
      headers: fc.dictionary(name, value, { maxKeys: 4 }),
      body: fc.oneof(
        fc.uint8Array({ maxLength: 400 }),
        fc.json().map((each) => Buffer.from(each)),
      ),
    });
    try {
      const property = fc.asyncProperty(input, async (each) => {
        const status = await send(server, { ...each, body: Buffer.from(each.body) });
        ok(status < 500, `answered ${String(status)}`);
      });
      await fc.assert(property, parameters);
    } finally {
      await stopServers();
    }
  },
};

interface AnyRequest {
  readonly path: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

function send(server: TestServer, { path, method, headers, body }: AnyRequest): Promise<number> {
  return new Promise((resolve, reject) => {
    const options = { host: server.host, port: server.port, path, method, agent: false, timeout: 120_000 };
    const req = httpRequest({ ...options, headers: { ...headers, ...BEARER } }, (res) => {
      res.resume();
      res.on('end', () => resolve(res.statusCode ?? 0));
    });
    req.on('timeout', () => req.destroy(new Error('no answer within two minutes')));
    req.on('error', reject);
    req.end(body);
  });
}

/** What is signed proves itself; with anything changed it is refused, and the doctor always has a sentence. */
const signatures: FuzzProperty = {
  name: 'signatures',
  runs: 150,
  check(parameters) {
    const schemes = PROVIDER_NAMES.filter((scheme) => scheme !== 'discord' && scheme !== 'sendgrid');
    const property = fc.property(
      fc.constantFrom(...schemes),
      fc.dictionary(fc.string({ maxLength: 10 }), json, { maxKeys: 5 }),
      fc.nat(),
      (scheme, payload, at) => checkSigned(scheme, Buffer.from(JSON.stringify(payload)), at),
    );
    fc.assert(property, parameters);
    return Promise.resolve();
  },
};

const NOW_MS = 1_700_000_000_000;

function checkSigned(scheme: string, event: Buffer, at: number): void {
  const secret =
    scheme === 'standard-webhooks' ? `whsec_${Buffer.alloc(24, 7).toString('base64')}` : 'a secret';
  const proof = { settings: VerifySettings.parse({ scheme, secrets: ['${S}'] }), secrets: [secret] };
  // Mandrill signs forms only.
  const isForm = scheme === 'mandrill';
  const request: SignedRequest = {
    method: 'POST',
    url: 'https://hooks.example.com/hooks/x',
    rawHeaders: ['content-type', isForm ? 'application/x-www-form-urlencoded' : 'application/json'],
    body: isForm ? Buffer.from(new URLSearchParams({ mandrill_events: event.toString() }).toString()) : event,
  };
  const signed = signRequest(proof, request, { nowMs: NOW_MS, id: 'msg_1' });
  ok(signed.kind === 'signed', scheme);
  const rawHeaders = [...request.rawHeaders, ...Object.entries(signed.headers).flat()];
  const sent = { ...request, rawHeaders, url: signed.url, body: signed.body };
  const fetchJson = (): Promise<never> => Promise.reject(new Error('no issuer here'));
  const verifier = createVerifier(proof, { clock: () => NOW_MS, fetchJson });
  const judge = (each: SignedRequest): ReturnType<typeof judgeNow> => judgeNow(verifier, each);
  ok(judge(sent).kind === 'proved', scheme);
  // The last header is the signature or a part of it: one bit of it is changed.
  const value = rawHeaders.at(-1) as string;
  const place = at % Math.max(1, value.length);
  const other = String.fromCodePoint((value.codePointAt(place) ?? 48) ^ 1);
  const changed = value.slice(0, place) + other + value.slice(place + 1);
  const forged = { ...sent, rawHeaders: [...rawHeaders.slice(0, -1), changed] };
  const isInBody = rawHeaders.length === 2;
  const judged = isInBody ? judge({ ...sent, body: Buffer.from('{}') }) : judge(forged);
  // Hex may be written in capitals, so a changed case is the same signature.
  if (judged.kind === 'proved') ok(changed.toLowerCase() === value.toLowerCase(), scheme);
  else ok(said(sayProof(findProofFault(proof, forged, judged))).length > 10, scheme);
}

function judgeNow(
  verifier: ReturnType<typeof createVerifier>,
  request: SignedRequest,
): Exclude<ReturnType<typeof verifier.prove>, Promise<unknown>> {
  const judged = verifier.prove(request);
  if (judged instanceof Promise) throw new Error('a provider is judged at once');
  return judged;
}

/** Untrusted text stands between the two markers of its request, and cannot write one itself. */
const boundary: FuzzProperty = {
  name: 'boundary',
  runs: 200,
  check(parameters) {
    const nonce = '0123456789abcdef';
    const spoof = fc.constantFrom(
      '<<<EXTERNAL_CONTENT id="',
      '<<<END_EXTERNAL_CONTENT',
      '>>>',
      '\n',
      '\u2028',
      '＜＜＜',
    );
    const message = fc.array(fc.oneof(text, spoof), { maxLength: 12 }).map((parts) => parts.join(''));
    const origin = { requestId: 'r', path: 'h', trusted: false };
    const markers = (prompt: string): number => [...prompt.matchAll(/<<<\s*\w*EXTERNAL_CONTENT/g)].length;
    const plain = markers(buildAgentPrompt({ message: 'x', origin, nonce, texts: new NeutralisedTexts() }));
    const property = fc.property(message, (each) => {
      const prompt = buildAgentPrompt({
        message: each,
        origin,
        nonce,
        texts: new NeutralisedTexts(),
      });
      ok(markers(prompt) === plain, 'the text wrote a marker of its own');
    });
    fc.assert(property, parameters);
    return Promise.resolve();
  },
};

/** Pieces of a long text are within the limit, and none is blank. */
const chunking: FuzzProperty = {
  name: 'chunking',
  runs: 150,
  check(parameters) {
    const property = fc.property(texts, fc.integer({ min: 2, max: 200 }), (each, limit) => {
      for (const piece of chunkText(each, limit)) ok(piece.length <= limit && piece.trim() !== '');
    });
    fc.assert(property, parameters);
    return Promise.resolve();
  },
};

export const PROPERTIES: readonly FuzzProperty[] = [
  requests,
  signatures,
  ...MAPPING_PROPERTIES,
  ...BODY_PROPERTIES,
  boundary,
  chunking,
];
