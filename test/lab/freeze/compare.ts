/**
 * `node test/lab/freeze/compare.ts BEFORE AFTER [--only PREFIX] [--renamed FILE]`: are code, place and fix of every finding the
 * same in two folders that `freeze.ts` wrote? Exit 1 where not. What a reader has to judge (texts, order, audience) goes to
 * `AFTER/differences.md`. `--renamed` names a JSON file with the new names of codes by their old ones.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { compareCases, isStrict } from './classify.ts';
import type { FrozenCase } from './record.ts';
import { report } from './report.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { only: { type: 'string', multiple: true, default: [] }, renamed: { type: 'string' } },
});
const [before, after] = positionals;
if (before === undefined || after === undefined) {
  process.stderr.write(
    'usage: node test/lab/freeze/compare.ts BEFORE AFTER [--only PREFIX …] [--renamed FILE]\n',
  );
  process.exit(2);
}
process.exitCode = compare(before, after);

function compare(was: string, is: string): number {
  const renamed =
    values.renamed === undefined
      ? {}
      : (JSON.parse(readFileSync(values.renamed, 'utf8')) as Record<string, string>);
  const isChosen = ({ case: name }: FrozenCase): boolean =>
    values.only.length === 0 || values.only.some((prefix) => name.startsWith(prefix));
  const families = readdirSync(is).filter((name) => name.endsWith('.jsonl'));
  const absent = readdirSync(was).filter((name) => name.endsWith('.jsonl') && !families.includes(name));
  const differences = families.flatMap((family) =>
    compareCases(read(join(was, family)).filter(isChosen), read(join(is, family)).filter(isChosen), renamed),
  );
  const { strict, review } = report(differences);
  const file = join(is, 'differences.md');
  writeFileSync(file, review);
  process.stdout.write(`${strict}\ntexts, order and audience: ${file}\n`);
  if (values.only.length === 0 && absent.length > 0)
    process.stdout.write(`not in ${is}, and not compared: ${absent.join(', ')}\n`);
  return differences.some(isStrict) ? 1 : 0;
}

function read(file: string): readonly FrozenCase[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
  return lines.map((line) => JSON.parse(line) as FrozenCase);
}
