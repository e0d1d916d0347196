import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { findInSamples } from '../../src/golden/golden.ts';
import { codesOf, compileList, tableOf } from '../support/mapping-compile.ts';
import { said } from '../support/said.ts';

const ISSUES = {
  id: 'issue',
  match: { path: 'github', when: { '===': [{ var: 'headers.x-github-event' }, 'issues'] } },
  messageTemplate: '{{issue.titel}}',
};

function find(files: Readonly<Record<string, string>>, mappings: readonly object[] = [ISSUES]) {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-samples-'));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  const folders = { samplesDir: join(folder, 'samples'), casesDir: join(folder, 'golden') };
  return findInSamples(folders, { table: tableOf(compileList(mappings)) });
}

const TITLE = '{"issue": {"title": "red"}}';

test('a payload counts as sent with the event that its name begins with', async () => {
  const { diagnostics, notes } = await find({ 'samples/github/issues.opened.json': TITLE });
  expect(codesOf(diagnostics)).toEqual(['TEMPLATE_UNKNOWN_PATH (warning)']);
  expect(notes).toEqual([]);
});

test('a payload of another event says nothing of a mapping, and what was not checked is named', async () => {
  const { diagnostics, notes } = await find({ 'samples/github/issueses.json': TITLE });
  expect(diagnostics.filter(({ isGeneral }) => isGeneral !== true)).toEqual([]);
  expect(notes.join()).toContain('issue');
});

test('without a sample nothing is said', async () => {
  expect(await find({})).toEqual({ diagnostics: [], notes: [] });
});

test('golden cases are samples, and what an expectation lists as empty is known', async () => {
  const request = (body: string) => `path: github\nheaders: {x-github-event: issues}\nbody: ${body}\n`;
  const mapping = { ...ISSUES, messageTemplate: 'by {{issue.user}}' };
  const files = {
    'golden/a.request.yaml': request('{issue: {user: ada}}'),
    'golden/b.request.yaml': request('{issue: {}}'),
  };
  const { diagnostics } = await find(files, [mapping]);
  expect(codesOf(diagnostics)).toEqual(['TEMPLATE_SOMETIMES_MISSING (warning)']);
  const known = { ...files, 'golden/b.expected.yaml': 'format: 1\nempty: ["messageTemplate: issue.user"]\n' };
  expect((await find(known, [mapping])).diagnostics).toEqual([]);
});

test('a payload that cannot be read is an error with its place', async () => {
  const { diagnostics } = await find({ 'samples/github/a.json': '{"issue": ' });
  expect(codesOf(diagnostics)).toEqual(['JSON_SYNTAX']);
  expect(diagnostics[0]?.at?.source.file).toContain('a.json');
});

test('the elements of forEach are counted, and their fields named with item', async () => {
  const mapping = { match: { path: 'am' }, forEach: 'alerts', messageTemplate: '{{item.lables.name}}' };
  const { diagnostics } = await find(
    { 'samples/am/a.json': '{"alerts": [{"labels": {"name": "x"}}, {"labels": {"name": "y"}}]}' },
    [mapping],
  );
  expect(said(diagnostics[0]?.message)).toBe(
    'item.lables.name is absent in 2 of 2 elements in 1 sample of am',
  );
  expect(said(diagnostics[0]?.hint)).toBe('did you mean item.labels.name?');
});

test('a question for an address is no event', async () => {
  const mapping = { match: { path: 'slack' }, messageTemplate: '{{event.text}}' };
  const { diagnostics } = await find(
    { 'samples/slack/check.json': '{"type": "url_verification", "token": "t", "challenge": "c"}' },
    [mapping],
  );
  expect(diagnostics).toEqual([]);
});
