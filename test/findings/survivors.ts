/**
 * `node test/findings/survivors.ts [PREFIX…]`: takes each rule (of codes that begin so) and each look of advice out of its list in turn and runs the cases of
 * the pages that it may have a part in. One that no case misses is printed: it needs an example, or can go. Exit 1 where
 * there is one. Rules on warnings of requests, which no page has, are held by `test/authoring/advice/result-warnings.test.ts`.
 */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { advise } from '../../src/authoring/advice/advice.ts';
import type { Look, Rule } from '../../src/authoring/advice/rule.ts';
import { LOOKS, RULES } from '../../src/authoring/advice/rules.ts';
import type { Finding } from '../../src/base/document/document.ts';
import { formatFindings } from '../../src/base/document/facts.ts';
import { type FindingCase, readFindingPages, writeCase } from '../support/finding-pages.ts';
import * as config from './config.ts';
import * as document from './document.ts';
import * as generation from './generation.ts';
import * as golden from './golden.ts';
import * as mapping from './mapping.ts';
import * as samples from './samples.ts';
import * as sandbox from './sandbox.ts';

const MODULES: Readonly<Record<string, { check(folder: string): Promise<readonly Finding[]> }>> = {
  config,
  document,
  generation,
  golden,
  mapping,
  samples,
  sandbox,
};

const work = realpathSync(mkdtempSync(join(tmpdir(), 'sluice-survivors-')));

/** What a module finds in the files of a case, as text, with the codes and the edits. */
async function outcome(
  each: FindingCase,
  folder: string,
): Promise<{ text: string; codes: readonly string[] }> {
  const found = advise((await MODULES[each.module]?.check(folder)) ?? []);
  const edits = found.map(({ code, edit }) => `${code} ${String(edit?.at.start)} ${String(edit?.text)}`);
  return { text: `${formatFindings(found)}\n${edits.join('\n')}`, codes: found.map(({ code }) => code) };
}

const cases: {
  readonly each: FindingCase;
  readonly folder: string;
  readonly text: string;
  readonly codes: readonly string[];
}[] = [];
for (const each of readFindingPages().flatMap((page) => page.cases)) {
  const folder = join(work, `${each.module}-${each.kind}`, each.name);
  writeCase(each, folder);
  // oxlint-disable-next-line no-await-in-loop -- one working directory
  cases.push({ each, folder, ...(await outcome(each, folder)) });
}

/** Whether a case of one of these codes is another one without the entry of a list. */
async function isMissed(list: unknown[], index: number, codes: readonly string[]): Promise<boolean> {
  const [entry] = list.splice(index, 1);
  try {
    for (const { each, folder, text, codes: own } of cases) {
      if (!codes.includes(each.code) && !own.some((code) => codes.includes(code))) continue;
      // oxlint-disable-next-line no-await-in-loop -- one working directory
      if ((await outcome(each, folder)).text !== text) return true;
    }
    return false;
  } finally {
    list.splice(index, 0, entry);
  }
}

/** Each is printed at once. */
const survivors: string[] = [];
function survives(entry: string): void {
  survivors.push(entry);
  process.stdout.write(`${entry}\n`);
}
const prefixes = process.argv.slice(2);
const isAsked = (codes: readonly string[]): boolean =>
  prefixes.length === 0 || codes.some((code) => prefixes.some((prefix) => code.startsWith(prefix)));
const lists: readonly (readonly [string, readonly Rule<never>[]])[] = Object.entries(RULES).filter(([code]) =>
  /^[A-Z]/.test(code),
);
for (const [code, rules] of lists)
  for (const [index] of isAsked([code]) ? rules.entries() : [])
    // oxlint-disable-next-line no-await-in-loop -- the list is one
    if (!(await isMissed(rules as Rule<never>[], index, [code]))) survives(`rule ${code} ${index}`);
for (const [index, { on, codes }] of LOOKS.entries())
  // oxlint-disable-next-line no-await-in-loop -- the list is one
  if (isAsked(codes) && !(await isMissed(LOOKS as Look[], index, codes)))
    survives(`look ${on} ${codes.join(', ')}`);

rmSync(work, { recursive: true, force: true });
if (survivors.length === 0) process.stdout.write('every rule is missed\n');
process.exit(survivors.length === 0 ? 0 : 1);
