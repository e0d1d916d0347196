/**
 * `npm run bench`: every figure is a ratio measured in one run on this machine, the two sides taking turns, so that a
 * slow machine slows both. Absolute numbers are printed for orientation only.
 *
 *   npm run bench                 everything
 *   npm run bench -- http         only the parts named: http golden start backlog
 */
import { type Part, runParts } from '../support/parts.ts';

const PARTS: readonly (() => Promise<Part>)[] = [
  async () => (await import('./http-part.ts')).httpPart,
  async () => (await import('./routing.bench.ts')).routingPart,
  async () => (await import('./sandbox.bench.ts')).sandboxPart,
  async () => (await import('./storage.bench.ts')).storagePart,
  async () => (await import('./golden-part.ts')).goldenPart,
  async () => (await import('./start-part.ts')).startPart,
  async () => (await import('./backlog-part.ts')).backlogPart,
];

const missed = await runParts(PARTS);
process.stdout.write(
  missed === 0 ? 'every aim was met in this run\n' : `${missed} aims were missed in this run\n`,
);
