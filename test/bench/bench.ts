/**
 * `npm run bench`: every figure is a ratio measured in one run on this machine, the two sides taking turns, so that a
 * slow machine slows both. Absolute numbers are printed for orientation only.
 *
 *   npm run bench                 everything
 *   npm run bench -- http         only the parts named: http golden start backlog
 */
import { styleText } from 'node:util';

/** One line of the table. */
export interface BenchRow {
  readonly what: string;
  readonly figure: string;
  /** What the design aims at, and whether this run reached it; absent for orientation. */
  readonly aim?: { readonly text: string; readonly met: boolean };
}

export interface BenchPart {
  readonly name: string;
  run(progress: (text: string) => void): Promise<readonly BenchRow[]>;
}

const PARTS: readonly (() => Promise<BenchPart>)[] = [
  async () => (await import('./http-part.ts')).httpPart,
  async () => (await import('./routing.bench.ts')).routingPart,
  async () => (await import('./sandbox.bench.ts')).sandboxPart,
  async () => (await import('./storage.bench.ts')).storagePart,
  async () => (await import('./golden-part.ts')).goldenPart,
  async () => (await import('./start-part.ts')).startPart,
  async () => (await import('./backlog-part.ts')).backlogPart,
];

const wanted = new Set(process.argv.slice(2));
const progress = (text: string): void => void process.stderr.write(`  ${text}\n`);
let missed = 0;
for (const load of PARTS) {
  const part = await load();
  if (wanted.size > 0 && !wanted.has(part.name)) continue;
  process.stderr.write(`${part.name}\n`);
  const rows = await part.run(progress);
  process.stdout.write(`\n${styleText('bold', part.name)}\n${formatRows(rows)}\n\n`);
  missed += rows.filter((row) => row.aim !== undefined && !row.aim.met).length;
}
process.stdout.write(
  missed === 0 ? 'every aim was met in this run\n' : `${missed} aims were missed in this run\n`,
);

function formatRows(rows: readonly BenchRow[]): string {
  const widest = Math.max(...rows.map((row) => row.what.length));
  return rows
    .map((row) => {
      const aim = row.aim === undefined ? '' : `   aim ${row.aim.text}: ${row.aim.met ? 'met' : 'MISSED'}`;
      return `  ${row.what.padEnd(widest)}  ${row.figure}${aim}`;
    })
    .join('\n');
}
