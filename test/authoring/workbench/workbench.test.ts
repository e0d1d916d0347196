/** What an author may read and write: files of the two folders, and nothing outside of them; and what the editor completes. */
import { readFileSync, statSync, symlinkSync, writeFileSync, chmodSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import {
  findAuthorFile,
  findAuthorFiles,
  readAuthorFile,
  saveAuthorFile,
} from '../../../src/authoring/workbench/author-files.ts';
import { writeNewMapping } from '../../../src/authoring/workbench/first-mapping.ts';
import { completeAt, hoverText } from '../../../src/authoring/workbench/complete-at.ts';
import { createHookRequest } from '../../../src/engine/hook/hook.ts';
import { makeConsoleFolder } from '../../support/console-fixture.ts';
import { exactNumber, type JsonObject } from '../../../src/base/json.ts';

function open(more: Readonly<Record<string, string>> = {}) {
  const folder = makeConsoleFolder({ 'secret/keys.yaml': 'key: 1\n', 'secret/in.yaml': 'key: 2\n', ...more });
  onTestFinished(() => folder.remove());
  const at = (name: string): string => join(folder.path, name);
  return { at, folders: { mappingsDir: at('mappings'), transformsDir: at('transforms') } };
}

const names = async (folders: Parameters<typeof findAuthorFiles>[0]): Promise<readonly string[]> =>
  (await findAuthorFiles(folders)).map(({ name }) => name.replace(/^.*?(?=(?:mappings|transforms)\/)/, ''));

test('lists mapping files and the files of transforms, and no others', async () => {
  const { folders } = open({
    'mappings/.hidden.yaml': '',
    'mappings/notes.txt': '',
    'mappings/more/deep.yaml': '',
    'transforms/lib/help.ts': '',
    'transforms/node_modules/x/index.js': '',
    'transforms/readme.md': '',
  });
  expect(await names(folders)).toEqual([
    'mappings/order.yaml',
    'transforms/lib/help.ts',
    'transforms/shout.ts',
  ]);
});

test('follows links first: one that leads out of the folder does not exist here', async () => {
  const { at, folders } = open();
  symlinkSync(at('secret/keys.yaml'), at('mappings/keys.yaml'));
  symlinkSync(at('secret'), at('transforms/secret'));
  symlinkSync(at('mappings/order.yaml'), at('mappings/same.yaml'));
  expect(await names(folders)).toEqual(['mappings/order.yaml', 'mappings/same.yaml', 'transforms/shout.ts']);
  for (const name of ['../secret/keys.yaml', at('secret/keys.yaml'), 'mappings/../secret/keys.yaml', ''])
    expect(await findAuthorFile(folders, name), name).toBeUndefined();
});

test('writes the text as it is and keeps comments, line ends, byte order mark and mode', async () => {
  const { at, folders } = open({ 'mappings/crlf.yaml': '\uFEFF# why\r\nid: a\r\n' });
  chmodSync(at('mappings/crlf.yaml'), 0o640);
  const file = (await findAuthorFiles(folders)).find(({ name }) => name.endsWith('crlf.yaml'));
  if (file === undefined) throw new Error('no file');
  const { text, version } = await readAuthorFile(file);
  expect(text).toBe('# why\nid: a\n');
  const saved = await saveAuthorFile(file, { text: text.replace('a', 'b'), version });
  expect(saved.isSaved).toBe(true);
  expect(readFileSync(at('mappings/crlf.yaml'), 'utf8')).toBe('\uFEFF# why\r\nid: b\r\n');
  expect(statSync(at('mappings/crlf.yaml')).mode & 0o777).toBe(0o640);
});

test('does not write over a file that was changed meanwhile', async () => {
  const { at, folders } = open();
  const [file] = await findAuthorFiles(folders);
  if (file === undefined) throw new Error('no file');
  const { version } = await readAuthorFile(file);
  writeFileSync(at('mappings/order.yaml'), '# by somebody else\n');
  const answer = await saveAuthorFile(file, { text: 'mine', version });
  expect(answer.isSaved).toBe(false);
  expect(readFileSync(at('mappings/order.yaml'), 'utf8')).toBe('# by somebody else\n');
});

test('makes a mapping of a request in a file of its own, which takes that request', async () => {
  const { at, folders } = open();
  const payload = { id: 7, buyer: { name: 'Ada', 'e mail': 'x' }, items: [{ sku: 'A' }] };
  const request = createHookRequest({
    path: 'order/new',
    headers: { 'x-shop-event': 'order.created' },
    query: {},
    payload,
    receivedAt: 0,
  });
  expect(await writeNewMapping(request, folders.mappingsDir)).toBe(at('mappings/order-new.yaml'));
  expect(await writeNewMapping(request, folders.mappingsDir)).toBe(at('mappings/order-new-2.yaml'));
  expect(readFileSync(at('mappings/order-new.yaml'), 'utf8')).toBe(`- id: order-new
  match:
    path: order/new
    when: { '===': [{ var: "headers.x-shop-event" }, "order.created"] }
  name: "order-new"
  deliver: false
  limits: { runsPerHour: 60, runsPerHourAndSession: 20 }
  instructions: |
    Say in at most three lines what happened, and whether somebody has to act.
  messageTemplate: |
    buyer name: {{buyer.name}}
    id: {{payload.id}}
    items ({{length payload.items}}):
    {{#each payload.items}}
    - {{sku}}
    {{/each}}
`);
});

/** What is offered where `|` stands, and the text it takes the place of. */
function offered(text: string): {
  readonly labels: readonly string[];
  readonly typed: string;
  apply: unknown[];
} {
  const pos = text.indexOf('|');
  const doc = text.replace('|', '');
  const place = { fileName: 'github.yaml', text: doc, pos, explicit: true };
  const result = completeAt(place, { requests: [], hookNames: [] });
  const options = result?.options ?? [];
  return {
    labels: options.map(({ label }) => label),
    typed: doc.slice(result?.from ?? pos, pos),
    apply: options.map((option) => option.apply),
  };
}

const OPERATORS = ['===', 'in', 'and', 'var'];

test('operators are offered after each brace of a condition, and alone on a line of one', () => {
  for (const text of [
    '- when: {|',
    '- when: { "|',
    '  when: {"===|',
    "- when: { and: [{ '|",
    '- when:\n    and:\n      - {i|',
    '- when:\n    a|',
  ]) {
    expect(offered(text).labels, text).toEqual(expect.arrayContaining(OPERATORS));
  }
  expect(offered('  when: {"===|').typed).toBe('===');
});

test('an operator that is no word comes with quotes, unless they are there', () => {
  const { labels, apply } = offered('- when: { |');
  expect(apply[labels.indexOf('===')]).toBe("'==='");
  expect(apply[labels.indexOf('and')]).toBe('and');
  expect(offered('- when: { "|').apply).toContain('===');
});

test('elsewhere there are keys and their values', () => {
  expect(offered('- acti|').labels).toContain('action');
  expect(offered('- action: |').labels).toEqual(expect.arrayContaining(['wake', 'agent']));
  expect(offered('- match: { pa|').labels).not.toContain('===');
});

test('paths are those that requests of the hook name have, and of an element the ones of its list', () => {
  const requestOf = (path: string, payload: JsonObject) =>
    createHookRequest({ path, headers: { 'x-kind': path }, query: {}, payload, receivedAt: 0 });
  const known = {
    requests: [
      requestOf('order', { id: 7, lines: [{ sku: 'a' }] }),
      requestOf('order', { id: exactNumber('820982911946154508') }),
      requestOf('push', { ref: 'main' }),
    ],
    hookNames: ['unseen'],
  };
  const offer = (text: string, fileName = 'a.yaml') => {
    const place = { fileName, text: text.replace('|', ''), pos: text.indexOf('|'), explicit: true };
    return { options: completeAt(place, known)?.options ?? [], hover: hoverText(place, known) };
  };
  const labels = (text: string, fileName?: string): readonly string[] =>
    offer(text, fileName).options.map(({ label }) => label);
  const order = '- match: {path: order}\n  forEach: lines\n  messageTemplate: "{{';
  expect(labels(`${order}|`)).toEqual(expect.arrayContaining(['id', 'lines.0.sku', 'item.sku']));
  expect(labels(`${order}|`)).not.toContain('ref');
  const lists = "when:\n  and:\n    - '===': [{ var: id }, 7]\nmessageTemplate: >\n  - one\n";
  const alone = `# one mapping\nid: hello\nmatch: {path: order}\nforEach: lines\n${lists}  - {{`;
  expect(labels(`${alone}|`)).toEqual(expect.arrayContaining(['id', 'lines.0.sku', 'item.sku']));
  expect(labels(`${alone}|`)).not.toContain('ref');
  const push = '  - match: {path: push}\n    when:\n    - a\n';
  expect(labels(`mappings:\n${push}${order.replace(/^/gm, '  ')}|`)).not.toContain('ref');
  expect(labels(`\n---\n${push}    name: "{{|`)).not.toContain('lines.0.sku');
  expect(labels(`- messageTemplate: "{{|`)).toEqual(expect.arrayContaining(['id', 'ref']));
  expect(labels('payload.|', 'a.ts')).toEqual(expect.arrayContaining(['payload.id', 'payload.ref']));
  expect(labels('- match: {path: |')).toEqual(['order', 'push', 'unseen']);
  expect(offer(`${order}i|d}}"`).hover).toBe('payload.id: in 2 of 2 requests: 7, 820982911946154508');
  expect(offer(`${order}truncat|e}}"`).hover).toContain('{{truncate ');
  expect(offer('- mat|ch: {path: a}').hover).toMatch(/requests/i);
});
