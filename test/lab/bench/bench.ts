/**
 * `npm run bench`: every figure is a ratio measured in one run on this machine, the two sides taking turns, so that a
 * slow machine slows both. Absolute numbers are printed for orientation only.
 *
 *   npm run bench                      everything
 *   npm run bench -- http              only the parts named
 *   npm run bench -- --write           and writes the figures into docs/performance.md
 *   npm run bench:compare              and holds the ratios against the ones written there last
 */
import { parseArgs } from 'node:util';
import { countMissed, type Part, runParts } from '../../support/parts.ts';
import { compareWithRecord, formatChanges, writeRecord } from './record.ts';

const PARTS: readonly (() => Promise<Part>)[] = [
  async () => (await import('./http-part.ts')).httpPart,
  async () => (await import('./sender-part.ts')).senderPart,
  async () => (await import('./commit-part.ts')).commitPart,
  async () => (await import('./reaction-part.ts')).reactionPart,
  async () => (await import('./memory-part.ts')).memoryPart,
  async () => (await import('./routing.bench.ts')).routingPart,
  async () => (await import('./sandbox.bench.ts')).sandboxPart,
  async () => (await import('./storage.bench.ts')).storagePart,
  async () => (await import('./golden-part.ts')).goldenPart,
  async () => (await import('./start-part.ts')).startPart,
  async () => (await import('./backlog-part.ts')).backlogPart,
  async () => (await import('./fleet-part.ts')).fleetPart,
  async () => (await import('./console-part.ts')).consolePart,
  async () => (await import('./editor-part.ts')).editorPart,
];

const { values, positionals } = parseArgs({
  options: { write: { type: 'boolean' }, compare: { type: 'boolean' } },
  allowPositionals: true,
});
const measured = await runParts(PARTS, positionals);
const missed = countMissed(measured);
process.stdout.write(
  missed === 0 ? 'every aim was met in this run\n' : `${missed} aims were missed in this run\n`,
);
if (values.compare) process.stdout.write(formatChanges(await compareWithRecord(measured)));
if (values.write) await writeRecord(measured);
