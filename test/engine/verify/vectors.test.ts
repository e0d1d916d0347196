import { describe, expect, test } from 'vitest';
import { createVerifier } from '../../../src/engine/verify/verify.ts';
import type { Proof } from '../../../src/engine/verify/proof.ts';
import { PROVIDER_NAMES } from '../../../src/engine/verify/facts.ts';
import { tamper } from './tamper.ts';
import { type Vector, VECTORS } from './vectors.ts';

function proveAt(vector: Vector, seconds: number): Proof {
  const proof = createVerifier(vector.proof, {
    clock: () => seconds * 1000,
    fetchJson: () => Promise.reject(new Error('no issuer here')),
  }).prove(vector.request);
  if (proof instanceof Promise) throw new Error('a provider is judged at once');
  return proof;
}

test('every provider of the table has a vector', () => {
  const covered = new Set(VECTORS.map(({ proof }) => proof.settings.scheme));
  expect(PROVIDER_NAMES.filter((name) => !covered.has(name))).toEqual([]);
});

describe.each(VECTORS.map((vector) => [vector.name, vector] as const))('%s', (_name, vector) => {
  test(`takes the vector: ${vector.source}`, () => {
    const proof = proveAt(vector, vector.sentAt);
    expect(proof).toMatchObject({ kind: 'proved', retired: 0 });
    expect(proof.kind === 'proved' ? proof.signedId : undefined).toBe(vector.signedId);
    const isTimed = vector.toleranceSeconds !== undefined;
    expect(proof.kind === 'proved' && proof.signedAtSeconds !== undefined).toBe(isTimed);
  });

  test.each(tamper(vector).map((variant) => [variant.name, variant] as const))(
    'refuses %s',
    (_what, variant) => {
      expect(proveAt(variant.vector, vector.sentAt + (variant.laterSeconds ?? 0)).kind).toBe('refused');
    },
  );

  test('takes the vector at both ends of the tolerance, whatever stands around it', () => {
    const tolerance = vector.toleranceSeconds ?? 0;
    expect(proveAt(vector, vector.sentAt + tolerance).kind).toBe('proved');
    expect(proveAt(vector, vector.sentAt - tolerance).kind).toBe('proved');
  });
});
