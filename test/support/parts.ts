/** A table of measured parts, each line with what the design aims at: `npm run bench` and `npm run redteam`. */
import { styleText } from 'node:util';

/** One line of the table. */
export interface Row {
  readonly what: string;
  readonly figure: string;
  /** What the design aims at, and whether this run reached it; absent for orientation. */
  readonly aim?: { readonly text: string; readonly met: boolean };
  /** A figure that means the same on a slower machine, so that two runs can be compared. */
  readonly ratio?: Ratio;
}

export interface Ratio {
  readonly value: number;
  readonly better: 'higher' | 'lower';
}

export interface Part {
  readonly name: string;
  run(progress: (text: string) => void): Promise<readonly Row[]>;
}

/** A part that ran. */
export interface Measured {
  readonly name: string;
  readonly rows: readonly Row[];
}

/** Runs the parts of these names, all where none is given, and prints a table of each. A part is loaded in its turn. */
export async function runParts(
  parts: readonly (() => Promise<Part>)[],
  names: readonly string[],
): Promise<readonly Measured[]> {
  const wanted = new Set(names);
  const measured: Measured[] = [];
  for (const load of parts) {
    const part = await load();
    if (wanted.size > 0 && !wanted.delete(part.name)) continue;
    process.stderr.write(`${part.name}\n`);
    const rows = await part.run((text) => void process.stderr.write(`  ${text}\n`));
    process.stdout.write(`\n${styleText('bold', part.name)}\n${formatRows(rows)}\n\n`);
    measured.push({ name: part.name, rows });
    if (names.length > 0 && wanted.size === 0) break;
  }
  if (names.length > 0 && wanted.size > 0) throw new Error(`there is no part ${[...wanted].join(', ')}`);
  return measured;
}

/** How many aims were missed. */
export function countMissed(measured: readonly Measured[]): number {
  return measured.flatMap(({ rows }) => rows).filter(({ aim }) => aim !== undefined && !aim.met).length;
}

function formatRows(rows: readonly Row[]): string {
  const widest = Math.max(...rows.map(({ what }) => what.length));
  return rows
    .map(({ what, figure, aim }) => {
      const reached = aim === undefined ? '' : `   aim ${aim.text}: ${aim.met ? 'met' : 'MISSED'}`;
      return `  ${what.padEnd(widest)}  ${figure}${reached}`;
    })
    .join('\n');
}
