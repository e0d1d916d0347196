/** What a transform finds under Node's names, held against Node itself. */
import { Buffer as NodeBuffer } from 'node:buffer';
import crypto from 'node:crypto';
import {
  array,
  assert,
  asyncProperty,
  constantFrom,
  nat,
  oneof,
  property,
  string,
  uint8Array,
} from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { Buffer } from '../../../src/engine/sandbox/isolate/buffer.ts';
import { createHash, createHmac, timingSafeEqual } from '../../../src/engine/sandbox/isolate/hashes.ts';
import { CODE_POINT } from '../../support/code-point.ts';
import { callTransform, refTo, SandboxFixture } from '../../support/sandbox-fixture.ts';

const fixture = new SandboxFixture();
afterAll(() => fixture.dispose());
const runs = { numRuns: 200, seed: 20260301 };
const encodings = ['utf8', 'utf-8', 'base64', 'base64url', 'hex', 'latin1', 'binary', 'UTF8', 'Hex'] as const;
const encoding = constantFrom(...encodings);
const text = oneof(
  string({ unit: CODE_POINT, maxLength: 40 }),
  string({ unit: constantFrom(...Array.from('0123456789abcdefABCDEF+/=-_ zé\ud800')), maxLength: 24 }),
);

describe('Buffer', () => {
  test('makes the same bytes of text as Node, in every encoding', () => {
    assert(
      property(text, encoding, (drawn, name) => {
        // Node reads rubbish out of what cannot stand in base64 or hex at all.
        const value = /^base64|^hex/i.test(name) ? drawn.replaceAll(/[^ -~]/gu, '') : drawn;
        const node = NodeBuffer.from(value, name as BufferEncoding);
        expect(Array.from(Buffer.from(value, name))).toEqual(Array.from(node));
        if (name === 'utf8') expect(Buffer.byteLength(value)).toBe(NodeBuffer.byteLength(value));
      }),
      runs,
    );
  });

  test('makes the same text of bytes as Node, in every encoding', () => {
    assert(
      property(uint8Array({ maxLength: 40 }), encoding, nat(10), (bytes, name, start) => {
        const node = NodeBuffer.from(bytes);
        expect(Buffer.from(bytes).toString(name)).toBe(node.toString(name as BufferEncoding));
        expect(Buffer.from(bytes).toString(name, start, 20)).toBe(
          node.toString(name as BufferEncoding, start, 20),
        );
        expect(JSON.stringify(Buffer.from(bytes))).toBe(JSON.stringify(node));
      }),
      runs,
    );
  });

  test('joins, fills, cuts and compares as Node does', () => {
    assert(
      property(array(uint8Array({ maxLength: 9 }), { maxLength: 5 }), nat(20), (parts, length) => {
        expect(Array.from(Buffer.concat(parts, length))).toEqual(
          Array.from(NodeBuffer.concat(parts, length)),
        );
        const joined = Buffer.concat(parts);
        expect(joined.equals(NodeBuffer.concat(parts))).toBe(true);
        expect(Array.from(joined.slice(1, -1))).toEqual(Array.from(NodeBuffer.concat(parts).subarray(1, -1)));
      }),
      runs,
    );
    expect(Array.from(Buffer.alloc(5, 'ab'))).toEqual(Array.from(NodeBuffer.alloc(5, 'ab')));
    expect([Buffer.isBuffer(Buffer.alloc(1)), Buffer.isBuffer(new Uint8Array(1))]).toEqual([true, false]);
    const shared = Buffer.from([1, 2, 3]);
    shared.slice(1)[0] = 9;
    expect(shared[1]).toBe(9);
    expect(Buffer.from(JSON.parse(JSON.stringify(shared))).equals(shared)).toBe(true);
    expect(() => Buffer.from('x', 'utf16le')).toThrow('a transform knows the encodings');
    expect(() => Buffer.from(5)).toThrow('Buffer.from takes text');
  });
});

describe('hashes', () => {
  test('and HMACs are those of Node', () => {
    const algorithm = constantFrom(
      'md5',
      'sha1',
      'sha224',
      'sha256',
      'sha384',
      'sha512',
      'SHA256',
      'sha-256',
    );
    assert(
      property(algorithm, array(text, { maxLength: 3 }), text, encoding, (name, parts, key, out) => {
        const pairs = [
          [createHash(name), crypto.createHash(name)],
          [createHmac(name, key), crypto.createHmac(name, key)],
        ] as const;
        for (const [ours, node] of pairs) {
          for (const part of parts) {
            ours.update(part);
            node.update(part);
          }
          expect(ours.digest(out)).toBe(node.digest(out as crypto.BinaryToTextEncoding));
        }
      }),
      runs,
    );
    expect(() => createHash('whirlpool')).toThrow('a transform knows the hashes md5, sha1');
  });

  test('compare in constant time, and only what has the same length', () => {
    expect(timingSafeEqual(Buffer.from('ab'), Buffer.from('ab'))).toBe(true);
    expect(timingSafeEqual(Buffer.from('ab'), Buffer.from('ac'))).toBe(false);
    expect(() => timingSafeEqual(Buffer.from('a'), Buffer.from('ab'))).toThrow(RangeError);
  });
});

describe('a transform written for Node', () => {
  const SOURCE = `
import { createHmac, timingSafeEqual, randomBytes } from 'node:crypto';
import nodeCrypto from 'crypto';
import { Buffer as Named } from 'buffer';
import { CODE_POINT } from '../../support/code-point.ts';
export default (c: any): any => {
  const digest = createHmac('sha256', process.env.SALT ?? '').update(c.payload.text).digest('hex');
  const body = Buffer.from(c.payload.text).toString('base64');
  return { message: [digest, body, nodeCrypto.createHash('sha1').update('a').digest('hex'), Named === Buffer,
    timingSafeEqual(Buffer.from('a'), Buffer.from('a')), crypto.randomUUID(), randomBytes(40).toString('hex'),
    crypto.getRandomValues(new Uint16Array(2)).length, Object.isFrozen(process.env)].join(' ') };
};`;

  test('runs unchanged, and draws the same bytes for the same request only', async () => {
    fixture.write({ 'node.ts': SOURCE });
    const ref = refTo('node.ts', { env: { SALT: 'pepper' } });
    const transforms = await fixture.load([ref]);
    expect(transforms.findings).toEqual([]);
    const drawn = async (key: string): Promise<string[]> => {
      const reply = await callTransform(transforms, ref, { text: 'héllo' }, { key });
      if (reply.kind === 'failed') throw new Error(reply.message);
      return (JSON.parse(reply.json ?? '') as { message: string }).message.split(' ');
    };
    const [first, again, other] = [await drawn('r1'), await drawn('r1'), await drawn('r2')];
    expect(again).toEqual(first);
    expect(first.slice(0, 5)).toEqual([
      crypto.createHmac('sha256', 'pepper').update('héllo').digest('hex'),
      NodeBuffer.from('héllo').toString('base64'),
      crypto.createHash('sha1').update('a').digest('hex'),
      'true',
      'true',
    ]);
    expect(first[5]).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(first[6]).toMatch(/^[0-9a-f]{80}$/);
    expect(first.slice(7)).toEqual(['2', 'true']);
    expect([other[5], other[6]]).not.toEqual([first[5], first[6]]);
    expect(other.slice(0, 5)).toEqual(first.slice(0, 5));
  });

  test('as tsc writes it, with require, runs too', async () => {
    fixture.write({
      'old.cjs':
        "const crypto_1 = require('node:crypto');\nmodule.exports = () => ({ message: crypto_1.createHash('md5').update('').digest('hex') });",
    });
    const ref = refTo('old.cjs');
    const transforms = await fixture.load([ref]);
    expect(transforms.findings).toEqual([]);
    expect(await callTransform(transforms, ref)).toMatchObject({
      json: '{"message":"d41d8cd98f00b204e9800998ecf8427e"}',
    });
  });

  test('cannot change a stand-in for the next call', async () => {
    const tries = [
      'Buffer.from = () => "evil"',
      'Buffer.prototype.toString = () => "evil"',
      'crypto.randomUUID = () => "evil"',
      'process.env = { A: "evil" }',
      'process.env.A = "evil"',
      'nodeCrypto.createHash = () => "evil"',
      'Object.getPrototypeOf(nodeCrypto.createHash("md5")).update = () => "evil"',
      'Object.setPrototypeOf(Buffer, null)',
      'globalThis.process = {}',
    ];
    await assert(
      asyncProperty(constantFrom(...tries), async (attempt) => {
        const reply = await fixture.run(
          `import nodeCrypto from 'node:crypto';\nexport default (): any => { ${attempt}; };`,
          {},
          { env: { A: 'a' } },
        );
        expect(reply).toMatchObject({ kind: 'failed', name: 'TypeError' });
      }),
      { examples: tries.map((one): [string] => [one]), numRuns: tries.length, seed: 1 },
    );
  });
});
