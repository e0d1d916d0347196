/** The pages of all findings but those of the sandbox, whose cases start processes: see `test/support/finding-cases.ts`. */
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { ADVICE_CODES } from '../../src/authoring/advice/requests/findings.ts';
import { LOOKS } from '../../src/authoring/advice/rules.ts';
import { describeModule, spoke } from '../support/finding-cases.ts';
import { findingIndex, PAGES, readFindingPages } from '../support/finding-pages.ts';
import { NO_EDIT } from '../support/no-edit.ts';
import * as config from './config.ts';
import * as document from './document.ts';
import * as generation from './generation.ts';
import * as golden from './golden.ts';
import * as mapping from './mapping.ts';
import * as samples from './samples.ts';
import * as sandbox from './sandbox.ts';

const modules = { config, document, generation, golden, mapping, samples };
const pages = readFindingPages();

for (const [name, module] of Object.entries(modules)) describeModule(name, module, pages);

test('every case belongs to a module, every page to a code, and every reason for no edit to a code', () => {
  const all: Readonly<Record<string, { readonly codes: readonly string[] }>> = { ...modules, sandbox };
  const codes = Object.values(all).flatMap((module) => module.codes);
  for (const { code, text, cases } of pages) {
    expect(codes).toContain(code);
    expect(text).toMatch(new RegExp(`^##? ${code}\n`));
    expect(cases.filter(({ module }) => !Object.hasOwn(all, module))).toEqual([]);
  }
  expect([...NO_EDIT.keys()].filter((code) => !codes.includes(code))).toEqual([]);
});

/** Codes whose near miss cannot stand on a page, and why. */
const NO_NEAR_MISS: ReadonlyMap<string, string> = new Map([
  ['FILE_TOO_LARGE', 'a file of nearly 4 MB is no example'],
  ['FILE_UNREADABLE', 'who may read a file is not in its text'],
  ['TRANSFORM_LOADER_FAILED', 'what fails is the machine, around a module that is right'],
  ['TRANSFORM_NOT_CHECKED', 'what is missing is a worker, around a module that is right'],
]);

test('every page says what is wrong, and has a near miss or a reason for none', () => {
  for (const { code, text, cases } of pages) {
    expect(text, code).not.toMatch(/^##? .*\n\n(?:##|What is wrong, and why it matters\.)/);
    const hasNearMiss = cases.some(({ kind }) => kind === 'silent');
    expect([code, hasNearMiss]).toEqual([code, !NO_NEAR_MISS.has(code)]);
  }
  const known = new Set(pages.map(({ code }) => code));
  expect([...NO_NEAR_MISS.keys()].filter((code) => !known.has(code))).toEqual([]);
});

test('the list of pages has all of them', () => {
  expect(readFileSync(join(PAGES, 'README.md'), 'utf8'), 'npm run finding writes it').toBe(findingIndex());
});

test('every rule says something on a page', () => {
  const inSandbox = new Set(sandbox.codes);
  const seen = [...spoke].filter(([name]) => !inSandbox.has(name.replace(/ .*/, '')));
  expect(seen.filter(([, isHeard]) => !isHeard).map(([name]) => name)).toEqual([]);
});

/** Findings of advice's own, and the rules of every family, come from somewhere. */
const ORIGIN = /<(https:\/\/[^>\s]+)>/;

test('a page of a finding of advice names where the mistake was seen', () => {
  const own = new Set(LOOKS.flatMap((look) => look.codes));
  const told = pages
    .filter(({ text }) => /^Seen in: <https:\/\/[^>\s]+>$/m.test(text))
    .map(({ code }) => code);
  expect(told.toSorted()).toEqual([...own].toSorted());
});

test('every family of hints and every note that advises has an origin', () => {
  const rows = readFileSync(join(PAGES, '../origins.md'), 'utf8').match(/^\| [^-\n].*<.*$/gm) ?? [];
  const named = rows.map((row) => /^\| `([^`]+)`/.exec(row)?.[1]);
  for (const row of rows) expect(row).toMatch(ORIGIN);
  const families = globSync('*.ts', { cwd: join(PAGES, '../../src/authoring/advice/rules') }).map((file) =>
    basename(file, '.ts'),
  );
  expect(families.filter((family) => !named.includes(family))).toEqual([]);
  expect(ADVICE_CODES.filter((code) => !named.includes(code))).toEqual([]);
});
