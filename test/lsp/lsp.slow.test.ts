/** The language server, asked by the protocol's own client over standard input and output of the real program. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import {
  createProtocolConnection,
  StreamMessageReader,
  StreamMessageWriter,
  type CodeAction,
  type CompletionItem,
  type Hover,
  type Location,
  type PublishDiagnosticsParams,
} from 'vscode-languageserver-protocol/node';
import { openBench } from '../support/cli-service.ts';

const MAIN = join(import.meta.dirname, '../../src/main.ts');
const MAPPING = `id: order
match:
  path: shop
  when: { '===': [{ var: kind }, order] }
action: agent
messageTemplate: 'Order {{ order.number }} of {{ order.customer.name }}'
`;
const FILES = {
  'sluice.yaml': 'gateway: { runners: { default: { kind: echo } } }\n',
  'mappings/shop.yaml': MAPPING,
  'test/golden/shop/one.request.yaml':
    'path: shop\nbody:\n  kind: order\n  order:\n    number: 7\n    customer: { name: Ada }\n',
  'test/golden/shop/two.request.yaml':
    'path: shop\nbody:\n  kind: order\n  order:\n    number: 8\n    customer: { name: Bob, vip: true }\n',
};

async function startEditor() {
  const { folder } = openBench(FILES);
  const child = spawn(process.execPath, [MAIN, 'lsp', '--stdio'], {
    cwd: folder,
    stdio: ['pipe', 'pipe', 'inherit'],
    timeout: 110_000,
  });
  onTestFinished(() => void child.kill());
  const client = createProtocolConnection(
    new StreamMessageReader(child.stdout),
    new StreamMessageWriter(child.stdin),
  );
  const shown = new Map<string, PublishDiagnosticsParams['diagnostics']>();
  client.onNotification('textDocument/publishDiagnostics', (said: PublishDiagnosticsParams) => {
    shown.set(said.uri, said.diagnostics);
  });
  client.listen();
  const rootUri = pathToFileURL(folder).href;
  await client.sendRequest('initialize', {
    processId: null,
    rootUri,
    capabilities: {},
    workspaceFolders: null,
  });
  await client.sendNotification('initialized', {});
  const uri = pathToFileURL(join(folder, 'mappings/shop.yaml')).href;
  let version = 1;
  let text = MAPPING;
  await client.sendNotification('textDocument/didOpen', {
    textDocument: { uri, languageId: 'yaml', version, text },
  });
  const positionOf = (needle: string, more: number) => {
    const lines = text.slice(0, text.indexOf(needle) + more).split('\n');
    return { line: lines.length - 1, character: lines.at(-1)?.length ?? 0 };
  };
  return {
    child,
    client,
    uri,
    codes: (): readonly unknown[] => (shown.get(uri) ?? []).map(({ code }) => code),
    type: async (next: string) => {
      text = next;
      version += 1;
      await client.sendNotification('textDocument/didChange', {
        textDocument: { uri, version },
        contentChanges: [{ text }],
      });
    },
    ask: <Answer>(what: string, needle: string, more = 0): Promise<Answer> =>
      client.sendRequest(`textDocument/${what}`, {
        textDocument: { uri },
        position: positionOf(needle, more),
      }),
    fixes: (needle: string): Promise<CodeAction[]> => {
      const range = { start: positionOf(needle, 0), end: positionOf(needle, 1) };
      return client.sendRequest('textDocument/codeAction', {
        textDocument: { uri },
        range,
        context: { diagnostics: [] },
      });
    },
  };
}

const PATIENCE = { timeout: 60_000, interval: 100 };

test('findings appear and go as the text changes, a fix mends them, and what samples know is told', async () => {
  const editor = await startEditor();
  await editor.type(MAPPING.replace('action:', 'acton:'));
  await expect.poll(editor.codes, PATIENCE).toContain('UNKNOWN_KEY');
  const [fix] = await editor.fixes('acton');
  expect(fix?.edit?.changes?.[editor.uri]).toMatchObject([{ newText: 'action' }]);

  await editor.type(MAPPING.replace('order.number', 'order.numbr'));
  await expect.poll(editor.codes, PATIENCE).toEqual(['TEMPLATE_UNKNOWN_PATH']);
  await editor.type(MAPPING);
  await expect.poll(editor.codes, PATIENCE).toEqual([]);

  const paths = await editor.ask<CompletionItem[]>('completion', '{{ order', 3);
  expect(paths.find(({ label }) => label === 'order.customer.vip')).toMatchObject({
    detail: 'true',
    documentation: 'in 1 of 2 requests: true',
  });
  expect(paths.map(({ label }) => label)).toEqual(expect.arrayContaining(['truncate', '#if']));
  const hover = await editor.ask<Hover>('hover', 'order.customer', 8);
  expect(hover.contents).toMatchObject({
    value: 'payload.order.customer.name: in 2 of 2 requests: "Ada", "Bob"',
  });
  const [place] = await editor.ask<Location[]>('definition', 'order.customer', 8);
  expect(place?.uri).toContain('test/golden/shop/one.request.yaml');
  expect(place?.range.start.line).toBe(5);
  expect(await editor.ask<Location[]>('definition', 'shop', 1)).toHaveLength(2);

  await editor.type(MAPPING.replace("{ '===': [{ var: kind }, order] }", '{ '));
  const operators = await editor.ask<CompletionItem[]>('completion', 'when: { ', 8);
  expect(operators.find(({ label }) => label === '===')?.documentation).toBe('Equal, and of the same type.');
  await editor.type(MAPPING.replace('path: shop', 'path: '));
  expect((await editor.ask<CompletionItem[]>('completion', 'path: ', 6)).map(({ label }) => label)).toEqual([
    'shop',
  ]);

  const ended = new Promise((resolve) => editor.child.once('exit', resolve));
  await editor.client.sendRequest('shutdown');
  await editor.client.sendNotification('exit');
  expect(await ended).toBe(0);
}, 120_000);
