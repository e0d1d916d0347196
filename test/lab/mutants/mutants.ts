/**
 * `npm run mutants -- SEED COUNT`: makes COUNT small faults in `src`, one after the other, and prints those that the
 * quick tests do not notice. The same seed makes the same faults of the same sources. Each fault lies in a checkout of its
 * own, so the working tree is left alone; one that the compiler refuses is replaced by another.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '../../..');
const [, , seedText = '1', countText = '24'] = process.argv;

/** What is written, and what in its place. */
const FAULTS: readonly (readonly [RegExp, string])[] = [
  [/ === /g, ' !== '],
  [/ !== /g, ' === '],
  [/ <= /g, ' < '],
  [/ >= /g, ' > '],
  [/ < /g, ' <= '],
  [/ > (?!=)/g, ' >= '],
  [/ && /g, ' || '],
  [/ \|\| /g, ' && '],
  [/ \+ (?=[\d\w(])/g, ' - '],
  [/\btrue\b/g, 'false'],
  [/\bfalse\b/g, 'true'],
  [/\.some\(/g, '.every('],
  [/\.every\(/g, '.some('],
  [/Math\.min\(/g, 'Math.max('],
  [/Math\.max\(/g, 'Math.min('],
  [/(?<=[=(,:] )(\d+)(?=[,;)])/g, '$1 + 1'],
  [/if \(!/g, 'if ('],
  [/(?<=^ {2,})(?:this\.#?|[a-z])\w*(?:\.\w+)*\([^()]*\);$/gm, ';'],
];

/** As `npm run test:quick` says it, to the first test that fails. */
const QUICK_TESTS =
  'run -c test/vitest.config.ts --bail 1 --exclude **/*.{guarantee,slow}.test.ts --exclude test/lab/endurance/**';

interface Fault {
  readonly file: string;
  readonly line: number;
  readonly before: string;
  readonly after: string;
  readonly text: string;
}

/** A small generator of numbers from 0 to 1, by its seed (mulberry32). */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The text with comments and the insides of quotes blanked, as long as before. */
function onlyCode(text: string): string {
  return text.replaceAll(
    /\/\*[^]*?\*\/|\/\/[^\n]*|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`/g,
    (found) => found.replaceAll(/[^\n]/g, ' '),
  );
}

function faultsOf(file: string): Fault[] {
  const text = readFileSync(join(ROOT, file), 'utf8');
  const code = onlyCode(text);
  return FAULTS.flatMap(([pattern, replacement]) =>
    [...code.matchAll(pattern)].map((found) => {
      const end = found.index + found[0].length;
      const changed = found[0].replace(new RegExp(pattern.source, pattern.flags), replacement);
      const made = text.slice(0, found.index) + changed + text.slice(end);
      const line = text.slice(0, found.index).split('\n').length;
      const [before = '', after = ''] = [text, made].map((each) => each.split('\n')[line - 1]?.trim());
      return { file, line, before, after, text: made };
    }),
  ).filter(({ before, after }) => before !== after && !before.startsWith('import '));
}

const next = numbers(Number.parseInt(seedText, 10));
const pick = <T>(list: readonly T[]): T => list[Math.floor(next() * list.length)]!;

const files = globSync('src/**/*.ts', { cwd: ROOT }).toSorted();
const layers = Map.groupBy(files, (file) => file.split('/')[1]!);

/** Layers have the same share, whatever their size. */
function draw(): Fault {
  for (;;) {
    const faults = faultsOf(pick(layers.get(pick([...layers.keys()]))!));
    if (faults.length > 0) return pick(faults);
  }
}

const checkout = mkdtempSync(join(tmpdir(), 'sluice-mutants-'));
const git = (...args: string[]): string => execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' });
const node = (...args: string[]): number | null =>
  spawnSync(process.execPath, args, {
    cwd: checkout,
    stdio: 'ignore',
    timeout: 300_000,
    killSignal: 'SIGKILL',
  }).status;

git('worktree', 'add', '--detach', '--quiet', '--force', checkout, 'HEAD');
try {
  symlinkSync(join(ROOT, 'node_modules'), join(checkout, 'node_modules'));
  const survivors: Fault[] = [];
  const count = Number.parseInt(countText, 10);
  for (let made = 0; made < count;) {
    const fault = draw();
    writeFileSync(join(checkout, fault.file), fault.text);
    if (node('node_modules/typescript/bin/tsc', '--noEmit') === 0) {
      made += 1;
      const ended = node('node_modules/vitest/vitest.mjs', ...QUICK_TESTS.split(' '));
      const place = `${fault.file}:${fault.line}`;
      process.stderr.write(`${made}/${count} ${ended === 0 ? 'SURVIVED' : 'noticed '} ${place}\n`);
      if (ended === 0) survivors.push(fault);
    }
    git('-C', checkout, 'checkout', '--quiet', '--', fault.file);
  }
  for (const { file, line, before, after } of survivors)
    console.log(`${file}:${line}\n- ${before}\n+ ${after}\n`);
  console.log(`the quick tests notice ${count - survivors.length} of ${count} (seed ${seedText})`);
} finally {
  git('worktree', 'remove', '--force', checkout);
  rmSync(checkout, { recursive: true, force: true });
}
