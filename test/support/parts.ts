/** A table of measured parts, each line with what the design aims at: `npm run bench` and `npm run redteam`. */
import { styleText } from 'node:util';

/** One line of the table. */
export interface Row {
  readonly what: string;
  readonly figure: string;
  /** What the design aims at, and whether this run reached it; absent for orientation. */
  readonly aim?: { readonly text: string; readonly met: boolean };
}

export interface Part {
  readonly name: string;
  run(progress: (text: string) => void): Promise<readonly Row[]>;
}

/**
 * Runs the parts named on the command line, all where none is named, and prints a table of each. A part is loaded only
 * when its turn comes. Returns the number of aims that were missed.
 */
export async function runParts(parts: readonly (() => Promise<Part>)[]): Promise<number> {
  const wanted = new Set(process.argv.slice(2));
  let missed = 0;
  for (const load of parts) {
    const part = await load();
    if (wanted.size > 0 && !wanted.has(part.name)) continue;
    process.stderr.write(`${part.name}\n`);
    const rows = await part.run((text) => void process.stderr.write(`  ${text}\n`));
    process.stdout.write(`\n${styleText('bold', part.name)}\n${formatRows(rows)}\n\n`);
    missed += rows.filter(({ aim }) => aim !== undefined && !aim.met).length;
  }
  return missed;
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
