import { createVerifier } from '../../../src/engine/verify/verify.ts';
import { PROVIDER_NAMES } from '../../../src/engine/verify/facts.ts';
import type { Part, Row } from '../../support/parts.ts';
import { tamper } from '../../engine/verify/tamper.ts';
import { type Vector, VECTORS } from '../../engine/verify/vectors.ts';

/** The table of providers: where the signed request comes from, whether it is taken, and whether changed ones are refused. */
export const vectorsPart: Part = {
  name: 'vectors',
  run: async () => {
    const rows: Row[] = [];
    // oxlint-disable-next-line no-await-in-loop -- one line after the other
    for (const vector of VECTORS) rows.push(await judgeVector(vector));
    const without = PROVIDER_NAMES.filter(
      (name) => !VECTORS.some(({ proof }) => proof.settings.scheme === name),
    );
    const figure = `${PROVIDER_NAMES.length - without.length} of ${PROVIDER_NAMES.length}`;
    return [
      ...rows,
      { what: 'providers with a vector', figure, aim: { text: 'all', met: without.length === 0 } },
    ];
  },
};

async function judgeVector(vector: Vector): Promise<Row> {
  const isTaken = await isProved(vector, 0);
  const variants = tamper(vector);
  const verdicts = await Promise.all(
    variants.map((variant) => isProved(variant.vector, variant.laterSeconds ?? 0)),
  );
  const refused = verdicts.filter((each) => !each).length;
  return {
    what: `${vector.name} (${vector.source})`,
    figure: `${isTaken ? 'taken' : 'refused'}; ${refused} of ${variants.length} changed ones refused`,
    aim: { text: 'taken, all refused', met: isTaken && refused === variants.length },
  };
}

async function isProved({ proof, request, sentAt }: Vector, laterSeconds: number): Promise<boolean> {
  const clock = (): number => (sentAt + laterSeconds) * 1000;
  const fetchJson = (): Promise<never> => Promise.reject(new Error('no issuer here'));
  return (await createVerifier(proof, { clock, fetchJson }).prove(request)).kind === 'proved';
}
