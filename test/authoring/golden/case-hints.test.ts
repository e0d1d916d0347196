/** What `sluice test` says first of a case that did not become what is expected. */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { cli } from '../../support/cli-terminal.ts';

const CONFIG = `
hooks:
  enabled: true
  mappings:
    - id: push
      match: {path: github, when: {"===": [{var: ref}, main]}}
      messageTemplate: "{{by}} pushed"
`;
const REQUEST = 'path: github\nbody: {ref: main, by: Ada}\n';
const folders: string[] = [];
afterEach(async () => {
  await Promise.all(folders.splice(0).map((folder) => rm(folder, { recursive: true, force: true })));
});

async function testCase(
  files: Readonly<Record<string, string>>,
  args: readonly string[] = [],
): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-hints-test-'));
  folders.push(folder);
  for (const [name, text] of Object.entries({ '../../../sluice.yaml': CONFIG, ...files })) {
    const file = join(folder, 'test/golden/g', name);
    // One after the other, in one folder.
    // oxlint-disable-next-line no-await-in-loop
    await mkdir(dirname(file), { recursive: true });
    // oxlint-disable-next-line no-await-in-loop
    await writeFile(file, text);
  }
  return (await cli(['test', ...args], { cwd: folder, env: {} })).out;
}

test('an expectation that differs is told where, and how to have it written', async () => {
  const text = 'outcome: accepted\nmapping: push\nactions: [{name: Push, session: x}]\n';
  const out = await testCase({ 'a.request.yaml': REQUEST, 'a.expected.yaml': text });
  expect(out).toMatch(/hint: it differs in actions\[0\]\.name, .*, sluice test --update g\/a writes them/);
  expect(out.indexOf('hint:')).toBeLessThan(out.indexOf('\n  + '));
});

test('what it became, or what printed nothing, comes before the difference and asks for no update', async () => {
  const text = 'outcome: accepted\nmapping: push\nactions: []\n';
  const body = { other: 'path: github\nbody: {ref: dev}\n', empty: 'path: github\nbody: {ref: main}\n' };
  for (const request of Object.values(body)) {
    // oxlint-disable-next-line no-await-in-loop
    const out = await testCase({ 'a.request.yaml': request, 'a.expected.yaml': text });
    expect(out).not.toContain('--update');
    expect(out.search(/\n +outcome (?:accepted|rejected)/)).toBeLessThan(out.indexOf('+ '));
  }
});

test('a new case names what printed nothing, and a case is found by the name of its file', async () => {
  const files = { 'a.request.yaml': 'path: github\nbody: {ref: main}\n', 'b.request.yaml': REQUEST };
  const out = await testCase(files, ['test/golden/g/a.request.yaml']);
  expect(out).toMatch(/g\/a {2}written; these printed nothing: messageTemplate: by\n/);
  expect(out).toContain('golden cases: 1 passed (1 written), 0 failed');
});

test('files that git wrote with CRLF are read like others, and a body that differs by them is told', async () => {
  const files = {
    '../../../sluice.yaml': `${CONFIG}    - {id: text, match: {path: text}, bodyFormat: text, messageTemplate: "{{payload}}"}\n`,
    'a.request.yaml': REQUEST,
    'b.request.yaml': 'path: text\nheaders: {content-type: text/plain}\nbodyFile: b.txt\n',
    'b.txt': 'one\ntwo\n',
  };
  const written = await testCase(files);
  expect(written).toContain('2 written');
  const folder = join(folders.at(-1) ?? '', 'test/golden/g');
  for (const name of ['a.request.yaml', 'a.expected.yaml', 'b.request.yaml', 'b.expected.yaml', 'b.txt']) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    const text = await readFile(join(folder, name), 'utf8');
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    await writeFile(join(folder, name), text.replaceAll('\n', '\r\n'));
  }
  const { out } = await cli(['test'], { cwd: folders.at(-1) ?? '', env: {} });
  expect(out).toContain('golden cases: 1 passed, 1 failed');
  expect(out).toMatch(/hint: only line ends differ, in actions\[0\]\.message: .*\.gitattributes/);
  expect(out).not.toContain('--update');
  expect(out.match(/^ {2}[-+] .*$/gm)?.every((line) => /message:|one|two/.test(line))).toBe(true);
});
