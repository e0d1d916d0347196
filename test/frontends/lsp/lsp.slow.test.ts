/** The language server, asked over standard input and output of the real program: by the protocol's own client, and by Neovim. */
import { type ChildProcessByStdio, execFile, spawn, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import {
  createProtocolConnection,
  type Diagnostic,
  PublishDiagnosticsNotification,
  StreamMessageReader,
  StreamMessageWriter,
} from 'vscode-languageserver/node';
import { builtMain } from '../../support/built-program.ts';
import { openBench } from '../../support/cli-service.ts';

const MAIN = builtMain();
const MAPPING = `id: order
match:
  path: shop
  when: { '===': [{ var: kind }, order] }
action: agent
messageTemplate: 'Order {{ order.number }} of {{ order.customer.name }}'
`;
/** Of another hook name: its samples are a payload, and one in a file beside a case; an index, forEach and blocks. */
const LINES = `match: { path: lines, when: { '!!': [{ var: [headers.x-kind] }] } }
forEach: order.lines
messageTemplate: '{{item.sku}} {{order.lines.[1].sku}}{{#each item.parts}}{{colour}}{{/each}}'
`;
const FILES = {
  'sluice.yaml': 'gateway: { runners: { default: { kind: echo } } }\n',
  'mappings/shop.yaml': MAPPING,
  'test/golden/shop/one.request.yaml':
    'path: shop\nbody:\n  kind: order\n  order:\n    number: 7\n    customer: { name: Ada }\n',
  'test/golden/shop/two.request.yaml':
    'path: shop\nbody:\n  kind: order\n  order:\n    number: 8\n    customer: { name: Bob, vip: true }\n',
  'mappings/lines.yaml': LINES,
  'samples/lines/a.json':
    '{"order":\n{"lines": [{"sku": "a",\n"parts": [{"colour": "red"}]},\n{"sku": "b"}]}}\n',
  'samples/lines/b.request.yaml': 'path: lines\nheaders:\n  X-Kind: k\nbodyFile: a.json\n',
};

/** What the server answers; tests look at what they need of it. */
type Answer = unknown;

/** The editor's side, by the protocol's own client, over the pipes of a process. */
function connectEditor(child: ChildProcessByStdio<Writable, Readable, null>): {
  /** Findings by the address of their file. */
  readonly shown: ReadonlyMap<string, readonly Diagnostic[]>;
  tell(method: string, params?: unknown): void;
  /** Rejects with the message of an error. */
  ask(method: string, params?: unknown): Promise<Answer>;
} {
  const shown = new Map<string, readonly Diagnostic[]>();
  const connection = createProtocolConnection(
    new StreamMessageReader(child.stdout),
    new StreamMessageWriter(child.stdin),
  );
  connection.onNotification(PublishDiagnosticsNotification.type, ({ uri, diagnostics }) => {
    shown.set(uri, diagnostics);
  });
  connection.listen();
  return {
    shown,
    tell: (method, params) => void connection.sendNotification(method, params),
    ask: (method, params) => connection.sendRequest(method, params),
  };
}

async function startEditor() {
  const { folder } = openBench(FILES);
  const child = spawn(process.execPath, [MAIN, 'lsp', '--stdio'], {
    cwd: folder,
    stdio: ['pipe', 'pipe', 'inherit'],
    timeout: 110_000,
  });
  onTestFinished(() => void child.kill());
  const { shown, ...client } = connectEditor(child);
  const rootUri = pathToFileURL(folder).href;
  await client.ask('initialize', { processId: null, rootUri, capabilities: {}, workspaceFolders: null });
  client.tell('initialized', {});
  let uri = pathToFileURL(join(folder, 'mappings/shop.yaml')).href;
  let version = 1;
  let text = MAPPING;
  client.tell('textDocument/didOpen', { textDocument: { uri, languageId: 'yaml', version, text } });
  const positionOf = (needle: string, more: number) => {
    const lines = text.slice(0, text.indexOf(needle) + more).split('\n');
    return { line: lines.length - 1, character: lines.at(-1)?.length ?? 0 };
  };
  return {
    child,
    client,
    uri,
    open: (name: string, content: string) => {
      uri = pathToFileURL(join(folder, name)).href;
      text = content;
      version = 1;
      client.tell('textDocument/didOpen', { textDocument: { uri, languageId: 'yaml', version, text } });
    },
    codes: (): readonly unknown[] => (shown.get(uri) ?? []).map(({ code }) => code),
    type: (next: string) => {
      text = next;
      version += 1;
      client.tell('textDocument/didChange', { textDocument: { uri, version }, contentChanges: [{ text }] });
    },
    ask: (what: string, needle: string, more = 0): Promise<Answer> =>
      client.ask(`textDocument/${what}`, { textDocument: { uri }, position: positionOf(needle, more) }),
    fixes: (needle: string): Promise<Answer> => {
      const range = { start: positionOf(needle, 0), end: positionOf(needle, 1) };
      return client.ask('textDocument/codeAction', { textDocument: { uri }, range, context: {} });
    },
  };
}

const labelsOf = (items: Answer): readonly unknown[] =>
  (items as readonly { readonly label: string }[]).map(({ label }) => label);

const PATIENCE = { timeout: 60_000, interval: 100 };

test('findings appear and go as the text changes, a fix mends them, and what samples know is told', async () => {
  const editor = await startEditor();
  editor.type(MAPPING.replace('action:', 'acton:'));
  await expect.poll(editor.codes, PATIENCE).toContain('UNKNOWN_KEY');
  expect(await editor.fixes('acton')).toMatchObject([
    { edit: { changes: { [editor.uri]: [{ newText: 'action' }] } } },
  ]);

  editor.type(MAPPING.replace('order.number', 'order.numbr'));
  await expect.poll(editor.codes, PATIENCE).toEqual(['TEMPLATE_UNKNOWN_PATH']);
  editor.type(MAPPING);
  await expect.poll(editor.codes, PATIENCE).toEqual([]);

  const paths = await editor.ask('completion', '{{ order', 3);
  expect(paths).toContainEqual(
    expect.objectContaining({
      label: 'order.customer.vip',
      detail: 'true',
      documentation: 'in 1 of 2 requests: true',
    }),
  );
  expect(labelsOf(paths)).toEqual(expect.arrayContaining(['truncate', '#if']));
  expect(await editor.ask('hover', 'order.customer', 8)).toMatchObject({
    contents: { value: 'payload.order.customer.name: in 2 of 2 requests: "Ada", "Bob"' },
  });
  editor.type(MAPPING.replace("{ '===': [{ var: kind }, order] }", '{ '));
  expect(await editor.ask('completion', 'when: { ', 8)).toContainEqual(
    expect.objectContaining({ label: '===', documentation: 'Equal, and of the same type.' }),
  );
  editor.type(MAPPING.replace('path: shop', 'path: '));
  expect(labelsOf(await editor.ask('completion', 'path: ', 6))).toEqual(['lines', 'shop']);
  await expect(editor.ask('foldingRange', 'path: ')).rejects.toThrow('Unhandled method');

  editor.open('mappings/lines.yaml', LINES);
  expect(labelsOf(await editor.ask('completion', '{{item', 4))).toContain('item.parts.0.colour');
  expect(labelsOf(await editor.ask('completion', '{{colour', 2))).toEqual(
    expect.arrayContaining(['colour', 'truncate']),
  );

  const ended = new Promise((resolve) => editor.child.once('exit', resolve));
  await editor.client.ask('shutdown');
  editor.client.tell('exit');
  expect(await ended).toBe(0);
});

const hasNeovim = spawnSync('nvim', ['--version']).status === 0;

/** Opens a file, waits for a finding, and prints all of its code and message; as versions from 0.7 on can. */
const NEOVIM = `
vim.cmd('edit mappings/shop.yaml')
local id = vim.lsp.start_client({ name = 'sluice', cmd = { NODE, MAIN, 'lsp' }, root_dir = vim.fn.getcwd() })
vim.lsp.buf_attach_client(0, id)
vim.wait(90000, function() return #vim.diagnostic.get(0) > 0 end, 100)
for _, found in ipairs(vim.diagnostic.get(0)) do io.stdout:write(found.code .. ': ' .. found.message .. '\\n') end
vim.cmd('qa!')
`;

test.skipIf(!hasNeovim)('Neovim shows a mistyped key in a file that it opens', async () => {
  const { folder } = openBench({ ...FILES, 'mappings/shop.yaml': MAPPING.replace('action:', 'acton:') });
  const script = NEOVIM.replace('NODE', JSON.stringify(process.execPath)).replace(
    'MAIN',
    JSON.stringify(MAIN),
  );
  writeFileSync(join(folder, 'open.lua'), script);
  const { stdout } = await promisify(execFile)('nvim', ['--headless', '--clean', '-S', 'open.lua'], {
    cwd: folder,
    timeout: 100_000,
  });
  expect(stdout).toContain('UNKNOWN_KEY: unknown key "acton"');
});
