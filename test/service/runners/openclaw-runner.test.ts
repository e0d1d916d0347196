/** Turns taken by an OpenClaw gateway's agents; reports as OpenClaw 2026.9.6 printed them, shortened. */
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import type { AddressInfo } from 'node:net';
import { beforeEach, describe, expect, test } from 'vitest';
import type { SafeText } from '../../../src/base/action.ts';
import type { RunnerSettings } from '../../../src/engine/config/config.ts';
import { createRunners, type Turn, type TurnResult } from '../../../src/service/runners/runners.ts';
import { gatewaySettings } from '../../support/gateway-settings.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

let folder: string;
beforeEach(() => {
  folder = temporaryFolder();
});

type OpenClaw = Extract<RunnerSettings, { kind: 'openclaw' }>;

/** A command that notes its arguments and its message file, and answers with a report; of its session it says `route`. */
function command(report: string, exitCode = 0, route = '{"session": null}'): string {
  const file = join(folder, 'openclaw');
  writeFileSync(join(folder, 'report.json'), report);
  writeFileSync(join(folder, 'route.json'), route);
  writeFileSync(
    file,
    `#!/bin/sh
if [ "$1" = gateway ]; then printf '%s\\n' "$@" > '${join(folder, 'question')}'; cat '${join(folder, 'route.json')}'; exit; fi
printf '%s\\n' "$@" > '${join(folder, 'argv')}'
while [ $# -gt 0 ]; do [ "$1" = --message-file ] && cat "$2" > '${join(folder, 'message')}'; shift; done
cat '${join(folder, 'report.json')}'
exit ${String(exitCode)}
`,
  );
  chmodSync(file, 0o755);
  return file;
}

async function take(settings: Partial<OpenClaw>, turn: Partial<Turn> = {}): Promise<TurnResult> {
  const runner: OpenClaw = {
    kind: 'openclaw',
    command: 'openclaw',
    passEnv: [],
    maxReplyBytes: 10_000,
    ...settings,
  };
  const gateway = gatewaySettings({ runner: 'theirs', runners: { theirs: runner } });
  const agents = {
    defaults: {
      model: undefined,
      models: undefined,
      aliases: {},
      timeoutSeconds: 60,
      maxTimeoutSeconds: 3600,
    },
  };
  const made = createRunners({ gateway, agents }, process.env, { secrets: ['sk-known-9999'] }).get('theirs');
  const whole: Turn = {
    runId: 'run-1',
    kind: 'hook',
    attempt: 1,
    sessionKey: 'gh:pr:7',
    sessionId: '0b1e7c3a-5d2f-8a4b-9c6d-1e2f3a4b5c6d',
    name: 'GitHub',
    prompt: 'the whole prompt' as SafeText,
    message: 'raw',
    timeoutSeconds: 30.5,
    history: [],
    ...turn,
  };
  const options = { signal: new AbortController().signal, onProcess: async () => {} };
  if (made === undefined) throw new Error('no runner');
  return made.run(whole, options);
}

const REPORT = {
  runId: '8fc0c215-c996-42dc-9af3-63d8c66fcaad',
  status: 'ok',
  summary: 'completed',
  result: {
    payloads: [
      { text: 'First part.', mediaUrl: null },
      { text: 'Second part.', mediaUrl: null },
    ],
    meta: {
      durationMs: 425,
      agentMeta: { provider: 'local', model: 'fake-1', usage: { input: 5, output: 2, total: 7 } },
    },
  },
};

test('the reply and the usage come out of the report; session, model and limits go in', async () => {
  const result = await take(
    { command: command(JSON.stringify(REPORT, null, 2)), agent: 'ops' },
    { model: 'local/fake-1', thinking: 'low' },
  );
  expect(result).toEqual({
    kind: 'completed',
    outcome: 'ok',
    reply: 'First part.\n\nSecond part.',
    usage: { inputTokens: 5, outputTokens: 2 },
  });
  const argv = readFileSync(join(folder, 'argv'), 'utf8').trim().split('\n');
  expect(argv.slice(0, 5)).toEqual(['agent', '--json', '--agent', 'ops', '--session-id']);
  expect(argv).toEqual(
    expect.arrayContaining(['--timeout', '31', '--model', 'local/fake-1', '--thinking', 'low']),
  );
  expect(readFileSync(join(folder, 'message'), 'utf8')).toBe('the whole prompt');
  expect(argv.join(' ')).not.toContain('the whole prompt');
});

/** What 2026.9.6 said of its main session before and after a message over Telegram; `test/lab/endurance/openclaw-expected.ts`. */
const LAST_ROUTE = JSON.parse(
  readFileSync(new URL('../../fixtures/openclaw/last-route.json', import.meta.url), 'utf8'),
) as { readonly before: object; readonly after: object };

describe('a reply to the channel last', () => {
  const toLast = { deliverTo: { channel: 'last' } };
  const asked = (): boolean => existsSync(join(folder, 'question'));

  test('goes where the main session there was last, which is asked for', async () => {
    const program = command(JSON.stringify(REPORT), 0, JSON.stringify(LAST_ROUTE.after));
    expect(await take({ command: program, agent: 'ops' }, toLast)).toMatchObject({
      outcome: 'ok',
      lastRoute: { channel: 'telegram', to: '42' },
    });
    expect(readFileSync(join(folder, 'question'), 'utf8').trim().split('\n')).toEqual([
      'gateway',
      'call',
      'sessions.describe',
      '--json',
      '--params',
      '{"key":"main","agentId":"ops"}',
    ]);
  });

  test.each([
    ['nobody has written there yet', JSON.stringify(LAST_ROUTE.before)],
    ['it has no such session', '{"session": null}'],
    ['the answer is none', 'gateway closed'],
  ])('goes where it leads here where %s', async (_what, route) => {
    const result = await take({ command: command(JSON.stringify(REPORT), 0, route) }, toLast);
    expect(result).toMatchObject({ outcome: 'ok' });
    expect(asked()).toBe(true);
    expect(result).not.toHaveProperty('lastRoute');
  });

  test.each([
    ['slack', 'channel:C0123', undefined, 'C0123'],
    ['discord', 'user:123456789012345678', undefined, 'user:123456789012345678'],
    ['telegram', 'telegram:-100123', 7, '-100123:topic:7'],
  ])('is written in the words of %s here', async (lastChannel, lastTo, lastThreadId, to) => {
    const route = JSON.stringify({ session: { lastChannel, lastTo, lastThreadId } });
    const result = await take({ command: command(JSON.stringify(REPORT), 0, route) }, toLast);
    expect(result).toMatchObject({ lastRoute: { channel: lastChannel, to } });
  });

  test.each([
    ['a channel is named', JSON.stringify(REPORT), { deliverTo: { channel: 'slack' } }],
    ['nothing is delivered', JSON.stringify(REPORT), {}],
    [
      'there is nothing to say',
      JSON.stringify({ ...REPORT, result: { payloads: [{ text: 'NO_REPLY' }] } }),
      toLast,
    ],
    ['the turn failed', JSON.stringify({ ...REPORT, status: 'error' }), toLast],
  ])('is not asked about where %s', async (_what, report, turn) => {
    await take({ command: command(report) }, turn);
    expect(asked()).toBe(false);
  });
});

test('the session id of a conversation names the session there', async () => {
  const sessionId = '5f0c1e9a-7b2d-8c3e-9f4a-0d1b2c3d4e5f';
  await take({ command: command(JSON.stringify(REPORT)) }, { sessionId });
  const argv = readFileSync(join(folder, 'argv'), 'utf8').split('\n');
  expect(argv[argv.indexOf('--session-id') + 1]).toBe(sessionId);
});

test.each([
  ['a timeout', { ...REPORT, status: 'timeout' }, 'timeout', 'timeout'],
  [
    'an error',
    { status: 'error', error: { message: 'no API key like sk-known-9999' } },
    'error',
    'agent_error',
  ],
])('%s there is that outcome here', async (_, report, outcome, code) => {
  const result = await take({ command: command(JSON.stringify(report)) });
  expect(result).toMatchObject({ kind: 'completed', outcome, error: { code } });
});

test('a failure without a report is an error, and what the command printed is no reply', async () => {
  expect(await take({ command: command('gateway connect failed', 1) })).toMatchObject({
    kind: 'completed',
    outcome: 'error',
    reply: '',
  });
  expect(await take({ command: command('not json') })).toMatchObject({
    kind: 'completed',
    outcome: 'error',
    error: { code: 'malformed_answer' },
  });
});

test('a command that is missing did not start', async () => {
  expect(await take({ command: join(folder, 'gone') })).toMatchObject({ kind: 'not-started', final: false });
});

test('events of the main session go to their main session, in one wake', async () => {
  const seen: { url: string; auth: string; body: string }[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (part: Buffer) => (body += part.toString()));
    request.on('end', () => {
      seen.push({ url: request.url ?? '', auth: request.headers.authorization ?? '', body });
      const isFirst = seen.length === 1;
      response.writeHead(isFirst ? 200 : 401, { 'content-type': 'application/json' });
      response.end(isFirst ? '{"ok":true,"mode":"now","eventOutcome":"queued"}' : '{"error":"Unauthorized"}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const hooks = { url: `http://127.0.0.1:${String(port)}/hooks/`, token: 'their-hook-token' };
  try {
    const turn = { kind: 'heartbeat', sessionKey: 'main' } as const;
    expect(await take({ hooks }, turn)).toEqual({ kind: 'completed', outcome: 'ok', reply: 'HEARTBEAT_OK' });
    const [wake] = seen;
    expect(wake).toMatchObject({ url: '/hooks/wake', auth: 'Bearer their-hook-token' });
    expect(JSON.parse(wake?.body ?? '')).toEqual({ text: 'the whole prompt', mode: 'now' });
    expect(await take({ hooks }, turn)).toMatchObject({
      kind: 'not-started',
      message: 'the openclaw gateway answered 401: Unauthorized',
    });
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
  expect(await take({ hooks }, { kind: 'heartbeat' })).toMatchObject({ kind: 'not-started', final: false });
  expect(await take({}, { kind: 'heartbeat' })).toMatchObject({ code: 'not_configured' });
});
