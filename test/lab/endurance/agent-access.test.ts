/**
 * `sluice runners check` with the real command lines of coding agents, those that are on PATH, against a model that asks
 * for the write: with `access: read` each refuses it. `test/lab/endurance/agents.test.ts` says how to install them.
 */
import { spawnSync } from 'node:child_process';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { cli } from '../../support/cli-terminal.ts';
import { listIn } from '../../support/output-check.ts';

let server: Server;
let url: string;
beforeAll(async () => {
  server = createServer((request, response) => void answer(request, response)).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server.close());

type Event = readonly [name: string, data: object | string];

/** Asks for the write once where the prompt names a file, by the tool of each agent; else, and after it, says DONE. */
async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  let text = '';
  for await (const part of request) text += String(part);
  const path = request.url ?? '';
  const file = /Create the file (\S+) with/.exec(text)?.[1];
  const wasTried = /"tool_result"|"function_call_output"|"role":"tool"|"functionResponse":\{/.test(text);
  const wanted = wasTried ? undefined : file;
  const events = path.includes('count_tokens') ? undefined : eventsOf(path, wanted);
  if (events === undefined) {
    response.writeHead(404, { 'content-type': 'application/json' }).end('{}');
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const [name, data] of events) {
    const head = name === '' ? '' : `event: ${name}\n`;
    response.write(`${head}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`);
  }
  response.end();
}

function eventsOf(path: string, file: string | undefined): readonly Event[] | undefined {
  if (path.includes('/messages')) return anthropic(file);
  if (path.includes('/responses')) return openai(file);
  if (path.includes('/chat/completions')) return completions(file);
  return path.includes('streamGenerateContent') ? google(file) : undefined;
}

function anthropic(file: string | undefined): readonly Event[] {
  const usage = { input_tokens: 5, output_tokens: 1 };
  const message = { id: 'm', type: 'message', role: 'assistant', model: 'm', content: [], usage };
  const [block, delta, reason] =
    file === undefined
      ? [{ type: 'text', text: '' }, { type: 'text_delta', text: 'DONE' }, 'end_turn']
      : [
          { type: 'tool_use', id: 't1', name: 'Write', input: {} },
          { type: 'input_json_delta', partial_json: JSON.stringify({ file_path: file, content: 'PROOF' }) },
          'tool_use',
        ];
  const ends = { stop_reason: reason, stop_sequence: null };
  return [
    ['message_start', { type: 'message_start', message }],
    ['content_block_start', { type: 'content_block_start', index: 0, content_block: block }],
    ['content_block_delta', { type: 'content_block_delta', index: 0, delta }],
    ['content_block_stop', { type: 'content_block_stop', index: 0 }],
    ['message_delta', { type: 'message_delta', delta: ends, usage: { output_tokens: 3 } }],
    ['message_stop', { type: 'message_stop' }],
  ];
}

function openai(file: string | undefined): readonly Event[] {
  const content = [{ type: 'output_text', text: 'DONE', annotations: [] }];
  const said = { id: 'm1', type: 'message', role: 'assistant', status: 'completed', content };
  const call = {
    id: 'f1',
    type: 'function_call',
    call_id: 'c1',
    name: 'exec_command',
    arguments: JSON.stringify({ cmd: `echo PROOF > ${file}` }),
    status: 'completed',
  };
  const item = file === undefined ? said : call;
  const usage = { input_tokens: 5, output_tokens: 3, total_tokens: 8 };
  const whole = { id: 'r1', object: 'response', created_at: 1, status: 'completed', output: [item], usage };
  return [
    ['response.created', { type: 'response.created', response: { ...whole, output: [] } }],
    ['response.output_item.done', { type: 'response.output_item.done', output_index: 0, item }],
    ['response.completed', { type: 'response.completed', response: whole }],
  ];
}

function completions(file: string | undefined): readonly Event[] {
  const chunk = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' };
  const usage = { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 };
  const args = JSON.stringify({ filePath: file, content: 'PROOF' });
  const call = { index: 0, id: 'call_1', type: 'function', function: { name: 'write', arguments: args } };
  const delta = { role: 'assistant', ...(file === undefined ? { content: 'DONE' } : { tool_calls: [call] }) };
  const reason = file === undefined ? 'stop' : 'tool_calls';
  return [
    ['', { ...chunk, choices: [{ index: 0, delta, finish_reason: null }] }],
    ['', { ...chunk, choices: [{ index: 0, delta: {}, finish_reason: reason }], usage }],
    ['', '[DONE]'],
  ];
}

function google(file: string | undefined): readonly Event[] {
  const call = { functionCall: { name: 'write_file', args: { file_path: file, content: 'PROOF' } } };
  const parts = [file === undefined ? { text: 'DONE' } : call];
  const usageMetadata = { promptTokenCount: 5, candidatesTokenCount: 3, totalTokenCount: 8 };
  const candidates = [{ content: { role: 'model', parts }, finishReason: 'STOP', index: 0 }];
  return [['', { candidates, usageMetadata }]];
}

/** Environment, and files in the home folder, that point each agent to the server. */
const SETUPS: Readonly<
  Record<string, () => { readonly env: Record<string, string>; readonly file?: readonly [string, string] }>
> = {
  claude: () => ({ env: { ANTHROPIC_API_KEY: 'k', ANTHROPIC_BASE_URL: url } }),
  codex: () => ({
    env: { CODEX_API_KEY: 'k' },
    file: [
      '.codex/config.toml',
      `model_provider = "local"\nmodel = "m"\n[model_providers.local]\nname = "local"\nbase_url = "${url}/v1"\nenv_key = "CODEX_API_KEY"\nwire_api = "responses"\n`,
    ],
  }),
  gemini: () => ({
    env: { GEMINI_API_KEY: 'k', GOOGLE_GEMINI_BASE_URL: url },
    file: ['.gemini/settings.json', '{"security":{"auth":{"selectedType":"gemini-api-key"}}}'],
  }),
  opencode: () => ({
    env: {},
    file: [
      '.config/opencode/opencode.json',
      JSON.stringify({
        model: 'local/m',
        small_model: 'local/m',
        provider: {
          local: {
            npm: '@ai-sdk/openai-compatible',
            options: { baseURL: `${url}/v1`, apiKey: 'k' },
            models: { m: { name: 'm' } },
          },
        },
      }),
    ],
  }),
};

const isInstalled = (name: string): boolean => spawnSync(name, ['--version']).status === 0;

describe.each(Object.keys(SETUPS))('the real %s', (name) => {
  test.skipIf(!isInstalled(name))('is refused a write unless it may', { timeout: 400_000 }, async () => {
    // Codex does not start below the system's temporary folder.
    const home = realpathSync(mkdtempSync(join(homedir(), '.sluice-access-test-')));
    onTestFinished(() => rmSync(home, { recursive: true, force: true }));
    const { env, file } = SETUPS[name]!();
    const cwd = join(home, 'config');
    const files = [
      [join(cwd, 'sluice.yaml'), `hooks: {enabled: true}\ngateway: {runner: {kind: ${name}}}\n`],
    ];
    for (const [path = '', text = ''] of file === undefined
      ? files
      : [...files, [join(home, file[0]), file[1]]]) {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text);
    }
    const all = { PATH: process.env['PATH'], HOME: home, ...env };
    const { out, exitCode } = await cli(['runners', 'check', '--timeout', '120', '--json'], {
      cwd,
      env: all,
    });
    expect(listIn(out)).toMatchObject([{ ok: true, said: 'DONE', write: { kind: 'refused' } }]);
    expect(exitCode).toBe(0);
  });
});
