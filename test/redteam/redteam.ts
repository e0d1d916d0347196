/**
 * `npm run redteam`: the long forms of attacks whose short forms are in `npm test`, against the built service in a
 * process of its own. Each prints what it aims at and whether this run reached it; milliseconds depend on the machine.
 *
 *   npm run redteam                  everything
 *   npm run redteam -- strangers     only the parts named
 */
import { styleText } from 'node:util';

/** One line of the table. */
export interface RedteamRow {
  readonly what: string;
  readonly figure: string;
  readonly aim: { readonly text: string; readonly met: boolean };
}

/** One attack; a new one is a file beside this one and a line in `PARTS`. */
export interface RedteamPart {
  readonly name: string;
  run(progress: (text: string) => void): Promise<readonly RedteamRow[]>;
}

const PARTS: readonly (() => Promise<RedteamPart>)[] = [
  async () => (await import('./strangers-part.ts')).strangersPart,
  async () => (await import('./limiter-part.ts')).limiterPart,
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
  missed += rows.filter(({ aim }) => !aim.met).length;
}
process.stdout.write(missed === 0 ? 'every aim was met\n' : `${missed} aims were missed\n`);
process.exitCode = missed === 0 ? 0 : 1;

function formatRows(rows: readonly RedteamRow[]): string {
  const widest = Math.max(...rows.map(({ what }) => what.length));
  return rows
    .map(
      ({ what, figure, aim }) =>
        `  ${what.padEnd(widest)}  ${figure}   aim ${aim.text}: ${aim.met ? 'met' : 'MISSED'}`,
    )
    .join('\n');
}
