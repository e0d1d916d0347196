/** Tables of the documentation that are lists of the source: variables of the environment, keys of transforms, claims that were proved; and limits that it names. */
import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { codeBlocks, readPage, sectionOf } from '../support/docs.ts';
import { AGENT_FIELDS, WAKE_FIELDS } from '../../src/engine/hook/action-fields.ts';
import { isJsonObject, type JsonObject } from '../../src/base/json.ts';
import { tableOf, adviseFile, compileList } from '../support/mapping-compile.ts';
import { scopeOf } from '../support/mapping-scope.ts';
import { MESSAGE_LIMITS } from '../../src/service/mail/mail-process.ts';

/** Names of environment variables that the source reads by a literal name, wherever the environment comes from. */
function variablesRead(): readonly string[] {
  const names = globSync('src/**/*.ts').flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/\benv(?:\?\.)?(?:\[['"]|\.)([A-Z][A-Z_]+)\b/g)].map(
      ([, name = '']) => name,
    ),
  );
  return [...new Set(names)].toSorted();
}

/** Of `SLUICE_…`: the code of an error. */
const NO_VARIABLES = ['SLUICE_STORE'];

/** What has the prefix of our variables, in the source and in the files to deploy: given to commands, or named. */
const ownVariables = (): readonly string[] =>
  globSync(['src/**/*.ts', 'deploy/*'])
    .flatMap((file) => readFileSync(file, 'utf8').match(/\bSLUICE_[A-Z_]+\b/g) ?? [])
    .filter((name) => !NO_VARIABLES.includes(name));

test('every environment variable that the source reads or sets is documented, and no other', () => {
  const section = sectionOf(readPage('docs/command-line.md'), '## Environment variables');
  const documented = [...section.matchAll(/^\| `([A-Z_]+)` /gm)].map(([, name = '']) => name);
  expect(variablesRead()).toContain('SLUICE_DEBUG');
  expect(ownVariables()).toContain('SLUICE_RUN_ID');
  expect(documented.toSorted()).toEqual([...new Set([...variablesRead(), ...ownVariables()])].toSorted());
});

test('the docs list every key that a transform may return, and no other', () => {
  const page = readFileSync(new URL('../../docs/cases-and-transforms.md', import.meta.url), 'utf8');
  const table = page.split('An object may have these keys.')[1]?.split('\n\nSluice calls')[0] ?? '';
  const listed = [...table.matchAll(/^\| `(\w+)` +\| (\w+) /gm)].map(([, key, kind]) => `${key} ${kind}`);
  const expected = [
    'keys agent',
    ...AGENT_FIELDS.map((key) => `${key} agent`),
    ...WAKE_FIELDS.map((key) => `${key} wake`),
  ];
  expect(listed.toSorted((a, b) => a.localeCompare(b))).toEqual(
    ['kind all', ...expected].toSorted((a, b) => a.localeCompare(b)),
  );
});

test('the README shows the last proof, with every claim held', () => {
  const readme = readFileSync('README.md', 'utf8');
  const script = readFileSync('test/lab/prove/prove.ts', 'utf8');
  const [, section = ''] =
    /<!-- proof: written by `npm run prove -- --write` -->\n([^]*?)<!-- end of proof -->/.exec(readme) ?? [];
  const rows = [...section.matchAll(/^\| (.+?) +\| .+ \| (\S+) +\|$/gm)].slice(2);
  expect(rows.map(([, claim]) => claim)).toEqual(
    [...script.matchAll(/^ {4}claim: '(.+)',$/gm)]
      .map(([, claim]) => claim)
      .toSorted((a = '', b = '') => section.indexOf(a) - section.indexOf(b)),
  );
  expect(new Set(rows.map(([, , result]) => result))).toEqual(new Set(['held']));
  expect(section).toMatch(/^\d{4}-\d\d-\d\d, Node 24\.[\d.]+, \d+ cores, \d+ s in all:$/m);
});

test('the docs say how much of a processor and of memory a message may take', () => {
  const { cpuMs, memoryMb } = MESSAGE_LIMITS;
  expect(readPage('docs/mail.md')).toContain(
    `more than ${cpuMs / 1000} s of processor time or ${memoryMb} MB of memory`,
  );
});

/** What a row on conditions and templates of other tools gives: a rule as a condition, anything else as a template. */
function outcomeOf(code: string, { headers, query, payload }: JsonObject): string {
  const isRule = code.startsWith('{"');
  const rule: unknown = isRule ? JSON.parse(code) : undefined;
  const mapping = {
    id: 'row',
    match: { path: 'a', ...(isRule && { when: rule }) },
    messageTemplate: isRule ? 'yes' : code,
  };
  expect([code, adviseFile(JSON.stringify(mapping), 'json')]).toEqual([code, []]);
  const { request } = scopeOf(payload ?? null, { path: 'a', headers, query } as object);
  const taken = tableOf(compileList([mapping])).route({ request });
  return taken?.templates.get('messageTemplate')?.render({ request }).trim() ?? 'no';
}

test('each row on conditions and templates of other tools gives what it says', () => {
  const page = sectionOf(readPage('docs/comparison.md'), '## Conditions and templates of other tools');
  const request: unknown = JSON.parse(codeBlocks(page)[0]?.text ?? '');
  if (!isJsonObject(request)) throw new Error('no request');
  const rows = [...page.matchAll(/^\| (?!-|what)(.*) \|$/gm)].map(([, row = '']) =>
    row.split(/(?<!\\) \| /).map((cell) => cell.trim().replaceAll('\\|', '|').replaceAll(/^`|`$/g, '')),
  );
  expect(rows.length).toBeGreaterThan(35);
  for (const cells of rows) {
    const [result = '', ...codes] = cells.toReversed();
    for (const code of codes.slice(0, -1)) {
      // A path alone is compared with what it finds.
      const isPath = code.startsWith('{"var"') && result !== 'yes';
      const rule = isPath ? JSON.stringify({ '===': [JSON.parse(code), result] }) : code;
      expect([code, outcomeOf(rule, request)]).toEqual([code, isPath ? 'yes' : result]);
    }
  }
});
