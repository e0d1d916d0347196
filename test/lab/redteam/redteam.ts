/**
 * `npm run redteam`: the long forms of attacks whose short forms are in `npm test`, against the built service in a
 * process of its own. Each prints what it aims at and whether this run reached it; milliseconds depend on the machine.
 *
 *   npm run redteam                  everything
 *   npm run redteam -- strangers     only the parts named
 */
import { countMissed, type Part, runParts } from '../../support/parts.ts';

/** One attack each; a new one is a file beside this one and a line here. */
const PARTS: readonly (() => Promise<Part>)[] = [
  async () => (await import('./strangers-part.ts')).strangersPart,
  async () => (await import('./strangers-part.ts')).keptPart,
  async () => (await import('./pipelining-part.ts')).pipeliningPart,
  async () => (await import('./bodies-part.ts')).bodiesPart,
  async () => (await import('./work-part.ts')).workPart,
  async () => (await import('./runs-part.ts')).runsPart,
  async () => (await import('./boundary-part.ts')).boundaryPart,
  async () => (await import('./vectors-part.ts')).vectorsPart,
  async () => (await import('./limiter-part.ts')).limiterPart,
  async () => (await import('./proofs-part.ts')).proofsPart,
  async () => (await import('./mail-part.ts')).mailPart,
  async () => (await import('./store-part.ts')).storePart,
  async () => (await import('./console-part.ts')).consolePart,
];

const missed = countMissed(await runParts(PARTS, process.argv.slice(2)));
process.stdout.write(missed === 0 ? 'every aim was met\n' : `${missed} aims were missed\n`);
process.exitCode = missed === 0 ? 0 : 1;
