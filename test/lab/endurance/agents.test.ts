/**
 * The real command lines of coding agents against a model server of this test: those that are on PATH are tried, the
 * others are skipped. `npm install @anthropic-ai/claude-code @openai/codex @google/gemini-cli opencode-ai` in a folder
 * outside of this one, with its `node_modules/.bin` on PATH, brings all four.
 */
import { spawnSync } from 'node:child_process';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { SafeText } from '../../../src/base/action.ts';
import { loadConfig } from '../../../src/engine/config/config.ts';
import { createRunners, type Turn, type TurnResult } from '../../../src/service/runners/runners.ts';

let server: Server;
let url: string;
beforeAll(async () => {
  server = createServer((request, response) => void answer(request, response)).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server.close());

/** Replies with PONG and how many times the user has spoken in the conversation it is sent. */
async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  let text = '';
  for await (const part of request) text += String(part);
  const asked = `PONG ${text.split('knock').length - 1}`;
  const stream = (events: readonly (readonly [name: string, data: object])[]): void => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const [name, data] of events) response.write(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`);
    response.end();
  };
  const path = request.url ?? '';
  if (path.includes('/messages') && !path.includes('count_tokens')) stream(anthropic(asked));
  else if (path.includes('/responses')) stream(openai(asked));
  else if (path.includes('/chat/completions')) {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const chunk of completions(asked)) response.write(`data: ${JSON.stringify(chunk)}\n\n`);
    response.end('data: [DONE]\n\n');
  } else if (path.includes('streamGenerateContent')) {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const content = { role: 'model', parts: [{ text: asked }] };
    const usageMetadata = { promptTokenCount: 5, candidatesTokenCount: 3, totalTokenCount: 8 };
    const candidates = [{ content, finishReason: 'STOP', index: 0 }];
    response.end(`data: ${JSON.stringify({ candidates, usageMetadata })}\n\n`);
  } else response.writeHead(404, { 'content-type': 'application/json' }).end('{}');
}

function anthropic(text: string): readonly (readonly [string, object])[] {
  const usage = { input_tokens: 5, output_tokens: 1 };
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [], usage };
  const ends = { stop_reason: 'end_turn', stop_sequence: null };
  const empty = { type: 'text', text: '' };
  const delta = { type: 'text_delta', text };
  return [
    ['message_start', { type: 'message_start', message }],
    ['content_block_start', { type: 'content_block_start', index: 0, content_block: empty }],
    ['content_block_delta', { type: 'content_block_delta', index: 0, delta }],
    ['content_block_stop', { type: 'content_block_stop', index: 0 }],
    ['message_delta', { type: 'message_delta', delta: ends, usage: { output_tokens: 3 } }],
    ['message_stop', { type: 'message_stop' }],
  ];
}

function openai(text: string): readonly (readonly [string, object])[] {
  const content = [{ type: 'output_text', text, annotations: [] }];
  const item = { id: 'msg_1', type: 'message', role: 'assistant', status: 'completed', content };
  const usage = { input_tokens: 5, output_tokens: 3, total_tokens: 8 };
  const response = {
    id: 'resp_1',
    object: 'response',
    created_at: 1,
    status: 'completed',
    output: [item],
    usage,
  };
  return [
    ['response.created', { type: 'response.created', response: { ...response, output: [] } }],
    ['response.output_item.done', { type: 'response.output_item.done', output_index: 0, item }],
    ['response.completed', { type: 'response.completed', response }],
  ];
}

function completions(text: string): readonly object[] {
  const chunk = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' };
  const usage = { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 };
  return [
    { ...chunk, choices: [{ index: 0, delta: { role: 'assistant', content: text }, finish_reason: null }] },
    { ...chunk, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage },
  ];
}

interface AgentSetup {
  readonly env: Readonly<Record<string, string>>;
  /** Files in the home folder that point the agent to the server. */
  readonly files: Readonly<Record<string, string>>;
}

const SETUPS: Readonly<Record<string, () => AgentSetup>> = {
  claude: () => ({ env: { ANTHROPIC_API_KEY: 'k', ANTHROPIC_BASE_URL: url }, files: {} }),
  codex: () => ({
    env: { CODEX_API_KEY: 'k' },
    files: {
      '.codex/config.toml': `model_provider = "local"
model = "m"
[model_providers.local]
name = "local"
base_url = "${url}/v1"
env_key = "CODEX_API_KEY"
wire_api = "responses"
`,
    },
  }),
  gemini: () => ({
    env: { GEMINI_API_KEY: 'k', GOOGLE_GEMINI_BASE_URL: url },
    files: { '.gemini/settings.json': '{"security":{"auth":{"selectedType":"gemini-api-key"}}}' },
  }),
  opencode: () => ({
    env: {},
    files: {
      '.config/opencode/opencode.json': JSON.stringify({
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
    },
  }),
};

async function openAgent(name: string): Promise<(change?: Partial<Turn>) => Promise<TurnResult>> {
  // Codex does not start below the system's temporary folder.
  const home = realpathSync(mkdtempSync(join(homedir(), '.sluice-agents-test-')));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const { env, files } = SETUPS[name]!();
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(home, path, '..'), { recursive: true });
    writeFileSync(join(home, path), text);
  }
  const config = join(home, 'service/sluice.yaml');
  mkdirSync(join(home, 'service'));
  writeFileSync(config, `hooks: {enabled: true}\ngateway: {runner: {kind: ${name}}}\n`);
  const host = { PATH: process.env['PATH'] ?? '', HOME: home, ...env };
  const loaded = await loadConfig(config, { env: host, needSecrets: true, dev: true });
  const runner = createRunners(loaded.config!.settings, host).get('default')!;
  const turn: Turn = {
    runId: `real-${name}-${process.pid}`,
    kind: 'hook',
    attempt: 1,
    sessionKey: 'hook:real',
    sessionId: '5f0c1e9a-7b2d-8c3e-9f4a-0d1b2c3d4e5f',
    name: 'Real',
    prompt: 'knock' as SafeText,
    message: 'knock',
    timeoutSeconds: 120,
    history: [],
  };
  const options = { signal: new AbortController().signal, onProcess: async () => {} };
  return (change) => runner.run({ ...turn, ...change }, options);
}

const isInstalled = (name: string): boolean => spawnSync(name, ['--version']).status === 0;
const LATER = { history: [{ role: 'user', text: 'knock', at: 1 }] } as const;

describe.each(Object.keys(SETUPS))('the real %s', (name) => {
  test.skipIf(!isInstalled(name))('continues a conversation', { timeout: 400_000 }, async () => {
    const run = await openAgent(name);
    expect(await run()).toMatchObject({ kind: 'completed', outcome: 'ok', reply: 'PONG 1' });
    expect(await run({ ...LATER })).toMatchObject({ kind: 'completed', outcome: 'ok', reply: 'PONG 2' });
    expect(await run({ ...LATER, sessionId: '6f0c1e9a-7b2d-8c3e-9f4a-0d1b2c3d4e5f' })).toMatchObject({
      outcome: 'ok',
      reply: 'PONG 1',
    });
    expect(await run({ sessionId: '7f0c1e9a-7b2d-8c3e-9f4a-0d1b2c3d4e5f', isOneShot: true })).toMatchObject({
      outcome: 'ok',
      reply: 'PONG 1',
    });
  });
});
