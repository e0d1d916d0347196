import { chmodSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import type { SafeText } from '../../../src/base/action.ts';
import { loadConfig } from '../../../src/engine/config/config.ts';
import { createRunners, type Turn, type TurnResult } from '../../../src/service/runners/runners.ts';
import { AGENT_PROFILES } from '../../../src/service/runners/agent-profiles.ts';
import { computingMs, threadMs } from '../../support/thread-time.ts';
import { type AtEnd, temporaryFolder } from '../../support/temporary-folder.ts';

/*
 * Stand-ins that speak as the real command lines do (claude 2.1.330, codex 0.169.0, gemini 0.61.0, opencode 1.18.33;
 * their outputs shortened). `test/lab/endurance/agents.test.ts` runs the real ones. Each notes its arguments, its folder and
 * its key, and replies with the prompt and how often it was asked in this conversation.
 */
const COMMON = `#!/bin/sh
args="$*"; prompt=$(cat); echo "$PWD $KEY $args $OPENCODE_PERMISSION" >> "$HOME/calls"
known() { [ -f "$HOME/sessions/$1" ]; }
ask() { mkdir -p "$HOME/sessions"; echo x >> "$HOME/sessions/$1"; n=$(grep -c x "$HOME/sessions/$1"); }
[ "$prompt" = sleep ] && exec sleep 30
[ "$prompt" = killed ] && kill -9 $$
[ "$prompt" = slow ] && cat "$HOME/out" && exec sleep 30
[ "$prompt" = later ] && { cat "$HOME/out"; cat "$HOME/err" >&2; exit 1; }
[ "$prompt" = leak ] && { cat "$HOME/out"; exit 0; }
[ "$prompt" = fail ] && { echo "it broke" >&2; exit 3; }
`;
const AGENTS: Readonly<Record<string, { readonly key: string; readonly script: string }>> = {
  claude: {
    key: 'ANTHROPIC_API_KEY',
    script: `
while [ $# -gt 0 ]; do case "$1" in --session-id) new=$2; shift;; --resume) old=$2; shift;; esac; shift; done
[ -n "$old" ] && ! known "$old" && { echo "No conversation found with session ID: $old" >&2; exit 1; }
[ -n "$new" ] && known "$new" && { echo "Error: Session ID $new is already in use." >&2; exit 1; }
ask "$old$new"
[ "$prompt" = refuse ] && { echo '{"type":"result","is_error":true,"result":"Prompt is too long"}'; exit 1; }
echo '{"type":"result","is_error":false,"result":"'"$prompt $n"'","total_cost_usd":0.0123,"usage":{"input_tokens":5,"output_tokens":3}}'
`,
  },
  codex: {
    key: 'CODEX_API_KEY',
    script: `
id=thread-$$
if [ "$2" = resume ]; then
  while [ $# -gt 2 ]; do shift; done; id=$1
  known "$id" || { echo "Error: thread/resume failed: no rollout found for thread id $id" >&2; exit 1; }
fi
ask "$id"; echo '{"type":"thread.started","thread_id":"'$id'"}'
[ "$prompt" = refuse ] && { echo '{"type":"turn.failed","error":{"message":"Prompt is too long"}}'; exit 1; }
echo '{"type":"item.completed","item":{"id":"i","type":"error","message":"Model metadata not found."}}'
echo '{"type":"item.completed","item":{"id":"j","type":"agent_message","text":"'"$prompt $n"'"}}'
echo '{"type":"turn.completed","usage":{"input_tokens":5,"output_tokens":3}}'
`,
  },
  gemini: {
    key: 'GEMINI_API_KEY',
    script: `
while [ $# -gt 0 ]; do case "$1" in --session-id) new=$2; shift;; --resume) old=$2; shift;; esac; shift; done
[ -n "$old" ] && ! known "$old" && { echo "Error resuming session: Invalid session identifier" >&2; exit 42; }
[ -n "$new" ] && known "$new" && { echo 'Error starting session: Session ID "'$new'" already exists.' >&2; exit 1; }
ask "$old$new"
[ "$prompt" = refuse ] && { printf '{\\n  "error": { "message": "Prompt is too long" }\\n}'; exit 41; }
printf '{\\n  "session_id": "x",\\n  "response": "%s",\\n  "stats": {"models": {"a": {"tokens": {"prompt": 4, "candidates": 1}}, "b": {"tokens": {"prompt": 1, "candidates": 2}}}}\\n}' "$prompt $n"
`,
  },
  opencode: {
    key: 'OPENAI_API_KEY',
    script: `
id=ses_$$
while [ $# -gt 0 ]; do case "$1" in --session) id=$2; known "$id" || { echo "Error: Session not found" >&2; exit 1; }; shift;; esac; shift; done
ask "$id"; echo '{"type":"step_start","sessionID":"'$id'","part":{"type":"step-start"}}'
[ "$prompt" = refuse ] && { echo '{"type":"error","sessionID":"'$id'","error":{"name":"E","data":{"message":"Prompt is too long"}}}'; exit 1; }
echo '{"type":"text","sessionID":"'$id'","part":{"type":"text","text":"'"$prompt $n"'"}}'
echo '{"type":"step_finish","sessionID":"'$id'","part":{"type":"step-finish","cost":0.01,"tokens":{"input":2,"output":1}}}'
echo '{"type":"step_finish","sessionID":"'$id'","part":{"type":"step-finish","cost":0.0023,"tokens":{"input":3,"output":2}}}'
`,
  },
};

interface LaterReport {
  readonly out?: string;
  readonly err?: string;
  /** Absent where the run fails. */
  readonly code?: 'login_needed' | 'limit_reached';
  readonly access?: 'read';
}
type LaterCase = readonly [what: string, report: LaterReport];

const lines = (...events: readonly object[]): string =>
  events.map((event) => JSON.stringify(event)).join('\n');

function claude(result: string, code?: LaterReport['code'], change: object = {}): LaterReport {
  const usage = { input_tokens: 0, output_tokens: 0 };
  const report = {
    type: 'result',
    is_error: true,
    num_turns: 1,
    usage,
    api_error_status: null,
    result,
    ...change,
  };
  return { out: JSON.stringify(report), ...(code === undefined ? {} : { code }) };
}

function codex(message: string, code?: LaterReport['code'], ...items: readonly object[]): LaterReport {
  const events = items.map((item) => ({ type: 'item.completed', item }));
  const out = lines(
    { type: 'thread.started', thread_id: 't' },
    { type: 'item.completed', item: { id: 'item_0', type: 'error', message: 'Model metadata not found.' } },
    ...events,
    { type: 'error', message: `Reconnecting... 1/5 (${message})` },
    { type: 'turn.failed', error: { message } },
  );
  return { out, ...(code === undefined ? {} : { code }) };
}

/** It writes its report of an error to stderr, behind a stack. */
function gemini(message: string, status: number, report: LaterReport = {}): LaterReport {
  const error = { session_id: 'x', error: { type: 'Error', message, code: status } };
  return {
    err: `    at x (y.js:1:1) {\n  status: ${status}\n}\n${JSON.stringify(error, null, 2)}`,
    ...report,
  };
}

function opencode(error: object, code?: LaterReport['code'], ...parts: readonly object[]): LaterReport {
  const events = parts.map((part) => ({ type: 'text', sessionID: 's', part }));
  return {
    out: lines(...events, { type: 'error', sessionID: 's', error }),
    ...(code === undefined ? {} : { code }),
  };
}

/** What the real ones print where the server of their model refuses them, and the words of issues about their accounts. */
const LATER_REPORTS: Readonly<Record<string, readonly LaterCase[]>> = {
  claude: [
    ['never logged in', claude('Not logged in · Please run /login', 'login_needed')],
    ['401', claude('Not logged in · Please run /login', 'login_needed', { api_error_status: 401 })],
    ['expired', claude('API Error: 401 {"error":{"message":"OAuth token has expired."}}', 'login_needed')],
    ['429', claude('Request rejected', 'limit_reached', { api_error_status: 429 })],
    ['limit', claude("You've hit your limit · resets 3pm (Europe/Berlin)", 'limit_reached')],
    ['weekly', claude('Weekly limit reached · resets Oct 9 at 3am', 'limit_reached')],
    ['credit', claude('Credit balance is too low', 'limit_reached')],
    ['after it acted', claude('API Error: 429', undefined, { num_turns: 4, api_error_status: 429 })],
    [
      'a prompt it refuses',
      claude('API Error: 400 prompt is too long', undefined, { api_error_status: 400 }),
    ],
  ],
  codex: [
    ['401', codex('unexpected status 401 Unauthorized: Incorrect API key provided', 'login_needed')],
    [
      'refresh',
      codex('Your access token could not be refreshed. Please log out and sign in again.', 'login_needed'),
    ],
    ['limit', codex("You've hit your usage limit. Try again at 12:16 PM.", 'limit_reached')],
    ['429', codex('exceeded retry limit, last status: 429 Too Many Requests', 'limit_reached')],
    ['after it acted', codex("You've hit your usage limit.", undefined, { type: 'command_execution' })],
  ],
  gemini: [
    ['never logged in', gemini('Invalid auth method selected.', 41, { code: 'login_needed' })],
    ['401', gemini('{"error":{"code":401}}', 401, { code: 'login_needed', access: 'read' })],
    ['429', gemini('You exceeded your current quota', 429, { code: 'limit_reached', access: 'read' })],
    ['daily', gemini('You have exhausted your daily quota', 1, { code: 'limit_reached', access: 'read' })],
    ['where it may have acted', gemini('You exceeded your current quota', 429)],
  ],
  opencode: [
    ['401', opencode({ name: 'APIError', data: { message: 'No', statusCode: 401 } }, 'login_needed')],
    ['no key', opencode({ name: 'ProviderAuthError', data: { message: 'No key' } }, 'login_needed')],
    ['429', opencode({ name: 'APIError', data: { message: 'Slow', statusCode: 429 } }, 'limit_reached')],
    ['limit', opencode({ name: 'E', data: { message: 'Rate limit exceeded.' } }, 'limit_reached')],
    ['after it acted', opencode({ name: 'E', data: { statusCode: 429 } }, undefined, { type: 'tool' })],
  ],
};

test.each([
  ['claude', claude('bad key sk-very-secret-1')],
  ['codex', codex('bad key sk-very-secret-1')],
  ['opencode', opencode({ name: 'E', data: { message: 'bad key sk-very-secret-1' } })],
] as const)('a failure that %s reports itself is told without its secrets', async (name, { out = '' }) => {
  const agent = await openAgent(name, 'env: {API_TOKEN: sk-very-secret-1}');
  writeFileSync(join(agent.home, 'out'), out);
  const result = await agent.run({ prompt: said('leak') });
  expect(result).toMatchObject({
    error: { code: 'agent_error', message: expect.stringContaining(`${name}: bad key [removed]`) as string },
  });
  expect(JSON.stringify(result)).not.toContain('sk-very-secret-1');
});

/** What tells each access in a call: read, edit, full; the operator's own arguments stand behind it. */
const ACCESS: Readonly<Record<string, readonly [RegExp, RegExp, RegExp]>> = {
  claude: [
    /--permission-mode default --strict-mcp-config --tools Read,Glob,Grep --extra/,
    /--permission-mode acceptEdits --strict-mcp-config --tools Read,Glob,Grep,Edit,Write --extra/,
    /--dangerously-skip-permissions --extra/,
  ],
  codex: [
    /sandbox_mode="read-only" -c approval_policy="never" --extra/,
    /sandbox_mode="workspace-write" -c approval_policy="never" --extra/,
    /sandbox_mode="danger-full-access" -c approval_policy="never" --extra/,
  ],
  gemini: [
    /--approval-mode plan --extra/,
    /--approval-mode auto_edit --extra/,
    /--approval-mode yolo --extra/,
  ],
  opencode: [
    /--extra \{"\*":"deny","read":"allow","glob":"allow","grep":"allow","list":"allow"\}/,
    /--extra \{"\*":"deny",.*"list":"allow","edit":"allow"\}/,
    /--extra \{"\*":"allow"\}/,
  ],
};

interface Opened {
  readonly home: string;
  run(change?: Partial<Turn>): Promise<TurnResult>;
  calls(): readonly string[];
}

async function openAgent(name: string, yaml = '', atEnd?: AtEnd): Promise<Opened> {
  const home = temporaryFolder(atEnd);
  const { key, script } = AGENTS[name]!;
  mkdirSync(join(home, 'bin'));
  mkdirSync(join(home, 'config'));
  const program = join(home, 'bin', name);
  writeFileSync(program, COMMON.replace('$KEY', `$${key}`) + script);
  chmodSync(program, 0o755);
  const file = join(home, 'config', 'sluice.yaml');
  writeFileSync(file, `hooks: {enabled: true}\ngateway:\n  runner: {kind: ${name}, ${yaml}}\n`);
  const host = { PATH: `${join(home, 'bin')}:${process.env['PATH']}`, HOME: home, [key]: 'the-key' };
  const { config, findings } = await loadConfig(file, { env: host, needSecrets: true, dev: true });
  expect(findings).toEqual([]);
  const runner = createRunners(config!.settings, host).get('default')!;
  const turn: Turn = {
    runId: `agent-${name}-${process.pid}`,
    kind: 'hook',
    attempt: 1,
    sessionKey: 'hook:example',
    sessionId: '5f0c1e9a-7b2d-8c3e-9f4a-0d1b2c3d4e5f',
    name: 'Example',
    prompt: 'first' as SafeText,
    message: 'first',
    timeoutSeconds: 30,
    history: [],
  };
  const options = { signal: new AbortController().signal, onProcess: async () => {} };
  return {
    home,
    run: (change) => runner.run({ ...turn, ...change }, options),
    calls: () => readFileSync(join(home, 'calls'), 'utf8').trim().split('\n'),
  };
}

const shared = new Map<string, Promise<Opened>>();
const ends: Parameters<AtEnd>[0][] = [];
afterAll(async () => {
  for (const end of ends) await end();
});

/** One for all cases that ask it once each: nothing of one turn is left for the next but its conversation. */
function sharedAgent(name: string, yaml: string): Promise<Opened> {
  const key = `${name} ${yaml}`;
  const agent = shared.get(key) ?? openAgent(name, yaml, (end) => ends.push(end));
  shared.set(key, agent);
  return agent;
}

const LATER = { history: [{ role: 'user', text: 'first', at: 1 }] } as const;
const said = (text: string) => text as SafeText;

describe.each(Object.keys(AGENTS))('the agent %s', (name) => {
  test('continues a conversation, in a private folder, with its key', async () => {
    const agent = await openAgent(name);
    const money = AGENT_PROFILES[name as keyof typeof AGENT_PROFILES].tellsMoney
      ? { costUsd: expect.closeTo(0.0123, 6) }
      : {};
    const first = await agent.run();
    expect(first).toMatchObject({ kind: 'completed', outcome: 'ok', reply: 'first 1' });
    expect(first).toHaveProperty('usage', { inputTokens: 5, outputTokens: 3, ...money });
    expect(await agent.run({ ...LATER, prompt: said('second') })).toMatchObject({ reply: 'second 2' });
    expect(await agent.run({ sessionId: '6f0c1e9a-7b2d-8c3e-9f4a-0d1b2c3d4e5f' })).toMatchObject({
      reply: 'first 1',
    });
    const [folder = '', key] = agent.calls()[0]?.split(' ') ?? [];
    expect(key).toBe('the-key');
    expect(folder.startsWith(join(agent.home, '.local/state/sluice/work/'))).toBe(true);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(agent.calls().map((call) => call.split(' ')[0])).toEqual([
      folder,
      folder,
      expect.not.stringMatching(folder),
    ]);
  });

  test('begins anew where the agent has lost the conversation, and goes on where it has it already', async () => {
    const agent = await openAgent(name);
    const note = expect.stringContaining('began it anew: it knows nothing of the turns before') as string;
    expect(await agent.run({ ...LATER })).toMatchObject({ outcome: 'ok', reply: 'first 1', note });
    expect(await agent.run()).not.toHaveProperty('note');
    rmSync(join(agent.home, 'sessions'), { recursive: true });
    expect(await agent.run({ ...LATER })).toMatchObject({ outcome: 'ok', reply: 'first 1', note });
  });

  test('reports a failure in its own words, asked once', async () => {
    const agent = await openAgent(name);
    // Of an agent that tells what its turns cost, one that it did not tell is none that cost nothing.
    const untold = ['claude', 'opencode'].includes(name) ? '; what it cost is not known' : '';
    expect(await agent.run({ prompt: said('refuse') })).toMatchObject({
      outcome: 'error',
      reply: '',
      error: { code: 'agent_error', message: `${name}: Prompt is too long${untold}` },
    });
    expect(await agent.run({ prompt: said('fail') })).toMatchObject({
      outcome: 'error',
      reply: '',
      error: { code: 'exit_3', message: `the command exited with code 3${untold}\nit broke` },
    });
    expect(agent.calls()).toHaveLength(2);
  });

  test('is ended at its time limit, which is said as it was set', async () => {
    const agent = await openAgent(name);
    const ended = await agent.run({ prompt: said('sleep'), timeoutSeconds: 1 });
    const untold = ['claude', 'opencode'].includes(name) ? '; what it cost is not known' : '';
    expect(ended).toMatchObject({ error: { message: `the command was ended after 1 s${untold}` } });
    if (untold === '') expect(ended).not.toHaveProperty('usage');
    else expect(ended).toHaveProperty('usage', { isCostUnknown: true });
    const killed = await agent.run({ prompt: said('killed') });
    expect(killed).toMatchObject({ error: { message: `the command was ended by SIGKILL${untold}` } });
  });

  test.each(LATER_REPORTS[name] ?? [])(
    'has not begun where it is kept from any turn: %s',
    async (_, report) => {
      const { out = '', err = '', code, access = 'full' } = report;
      const agent = await sharedAgent(name, `access: ${access}`);
      writeFileSync(join(agent.home, 'out'), out);
      writeFileSync(join(agent.home, 'err'), err);
      rmSync(join(agent.home, 'calls'), { force: true });
      const result = await agent.run({ prompt: said('later') });
      expect(agent.calls()).toHaveLength(1);
      if (code === undefined) return expect(result).toMatchObject({ kind: 'completed', outcome: 'error' });
      expect(result).toMatchObject({
        kind: 'not-started',
        code,
        affects: code === 'login_needed' ? 'runner' : 'model',
        final: false,
      });
      expect(result).not.toHaveProperty('message', expect.stringContaining('\n'));
    },
  );

  test('may only read unless it is said otherwise, and works in a folder of the list', async () => {
    const patterns = ACCESS[name]!;
    for (const [index, access] of ['', 'access: edit', 'access: full'].entries()) {
      const agent = await openAgent(name, `${access}${access === '' ? '' : ', '}argv: [--extra]`);
      const folder = join(agent.home, 'config');
      await agent.run({ cwd: folder });
      const [call = ''] = agent.calls();
      expect(call.split(' ')[0]).toBe(folder);
      expect(call).toMatch(patterns[index]!);
      for (const other of patterns.filter((_, at) => at !== index)) expect(call).not.toMatch(other);
    }
  });

  test('gets a model and further arguments, and no model that looks like an option', async () => {
    const agent = await openAgent(name, 'model: small, argv: [--extra, "two words"]');
    await agent.run({ model: 'big/one' });
    expect(agent.calls()[0]).toMatch(/--model big\/one .*--extra two words/);
    expect(await agent.run({ model: '--yolo' })).toMatchObject({
      kind: 'not-started',
      code: 'unsafe_argument',
    });
  });

  test('leaves no folder of a conversation that ends with its run', async () => {
    const agent = await openAgent(name);
    expect(await agent.run({ isOneShot: true })).toMatchObject({ outcome: 'ok' });
    const [folder = ''] = agent.calls()[0]?.split(' ') ?? [];
    expect(() => statSync(folder)).toThrow('ENOENT');
  });
});

test('of a turn that was ended counts what its agent had told of its cost', async () => {
  const agent = await openAgent('opencode');
  const step = { type: 'step-finish', cost: 0.25, tokens: { input: 10, output: 4 } };
  const lines = [step, step].map((part) => JSON.stringify({ type: 'step_finish', sessionID: 'ses_1', part }));
  writeFileSync(join(agent.home, 'out'), `${lines.join('\n')}\n{"type":"step_finish","part":{"ty`);
  const ended = await agent.run({ prompt: said('slow'), timeoutSeconds: 1 });
  expect(ended).toMatchObject({
    outcome: 'timeout',
    reply: '',
    error: { message: 'the command was ended after 1 s' },
    usage: { inputTokens: 20, outputTokens: 8, costUsd: 0.5 },
  });
});

const USAGE = { input_tokens: 1000, output_tokens: 200 };
const RESULT = {
  type: 'result',
  subtype: 'success',
  is_error: false,
  num_turns: 3,
  result: 'All done.',
  total_cost_usd: 0.42,
  usage: USAGE,
};
const { result: _text, ...TEXTLESS } = RESULT;
const brokenOff = (subtype: string, change: object = {}): object => ({
  ...TEXTLESS,
  subtype,
  is_error: true,
  ...change,
});
const verbose = (result: object): object[] => [
  { type: 'system', subtype: 'init', tools: [] },
  { type: 'assistant', message: { content: [{ type: 'text', text: 'thinking' }] } },
  result,
];
const TOKENS = { inputTokens: 1000, outputTokens: 200 };
const USED = { ...TOKENS, costUsd: 0.42 };
const DONE = { outcome: 'ok', reply: 'All done.', usage: USED };
const failing = (message: string, usage: object = USED): object => ({
  outcome: 'error',
  error: { code: 'agent_error', message },
  usage,
});
const UNKNOWN = '; what it cost is not known';
const TOO_MANY = 'Reached maximum number of turns (1)';

/** Reports as the agents print them, by their settings and their ends; `test/lab/endurance/agents.test.ts` asks the real ones. */
type ReportCase = readonly [what: string, agent: string, out: string | object, expected: object, code?: 1];
const REPORTS: readonly ReportCase[] = [
  ['a list', 'claude', verbose(RESULT), DONE],
  ['a list over several lines', 'claude', JSON.stringify(verbose(RESULT), null, 2), DONE],
  [
    'a list behind warnings, before a remark',
    'claude',
    `(node:1) Warning: x\n[\nUpdate\n${JSON.stringify(verbose(RESULT))}\nSession saved\n`,
    DONE,
  ],
  [
    'several lines before a remark',
    'claude',
    `Update 2.2\n${JSON.stringify(RESULT, null, 2)}\nSession saved`,
    DONE,
  ],
  ['a stream', 'claude', lines(...verbose(RESULT), { type: 'system', subtype: 'hook' }), DONE],
  ['two results', 'claude', lines({ ...RESULT, result: 'First.', total_cost_usd: 0.1 }, RESULT), DONE],
  [
    'most turns',
    'claude',
    brokenOff('error_max_turns', { errors: [TOO_MANY] }),
    failing(`claude: ${TOO_MANY}`),
    1,
  ],
  [
    'most turns, in a list',
    'claude',
    verbose(brokenOff('error_max_turns', { errors: [TOO_MANY] })),
    failing(`claude: ${TOO_MANY}`),
    1,
  ],
  [
    'most turns, of old',
    'claude',
    brokenOff('error_max_turns', { is_error: false }),
    failing('claude: error_max_turns'),
  ],
  [
    'most money',
    'claude',
    brokenOff('error_max_budget_usd', { errors: [], total_cost_usd: 5.01 }),
    failing('claude: error_max_budget_usd', { ...USED, costUsd: 5.01 }),
    1,
  ],
  [
    'a crash of a tool',
    'claude',
    brokenOff('error_during_execution', { errors: ['Tool crashed', { message: 'twice' }] }),
    failing('claude: Tool crashed; twice'),
    1,
  ],
  [
    'a part of a reply',
    'claude',
    brokenOff('error_max_turns', { is_error: false, result: 'Half.' }),
    { ...failing('claude: error_max_turns'), reply: 'Half.' },
  ],
  ['no text', 'claude', { ...RESULT, result: '' }, { outcome: 'ok', reply: '', usage: USED }],
  [
    'an output by a schema',
    'claude',
    { ...RESULT, result: '', structured_output: { verdict: 'ok' } },
    { outcome: 'ok', reply: '{"verdict":"ok"}' },
  ],
  [
    'a subscription',
    'claude',
    { ...RESULT, total_cost_usd: 0 },
    { outcome: 'ok', usage: { ...TOKENS, costUsd: 0 } },
  ],
  ['money as a text', 'claude', { ...RESULT, total_cost_usd: '0.42' }, DONE],
  [
    'money by models only',
    'claude',
    {
      ...RESULT,
      usage: null,
      total_cost_usd: null,
      modelUsage: { a: { inputTokens: 1000, outputTokens: 200, costUSD: 0.42 } },
    },
    DONE,
  ],
  [
    'no money',
    'claude',
    { ...RESULT, total_cost_usd: undefined },
    { ...DONE, usage: { ...TOKENS, isCostUnknown: true } },
  ],
  [
    'neither text nor reason',
    'claude',
    { type: 'result', total_cost_usd: 0.42 },
    failing('claude: no reason', { costUsd: 0.42 }),
  ],
  [
    'a report that was cut off',
    'claude',
    JSON.stringify(verbose(RESULT)).slice(0, -20),
    {
      outcome: 'error',
      error: { code: 'malformed_answer', message: `claude printed something else than its report${UNKNOWN}` },
      usage: { isCostUnknown: true },
    },
  ],
  [
    'an error alone',
    'codex',
    { type: 'error', message: 'No such model' },
    { error: { code: 'agent_error', message: 'codex: No such model' } },
    1,
  ],
  [
    'tries that it repeated',
    'codex',
    lines(
      { type: 'error', message: 'Reconnecting... 1/5' },
      { type: 'item.completed', item: { type: 'agent_message', text: 'All done.' } },
      { type: 'turn.completed', usage: USAGE },
    ),
    { outcome: 'ok', reply: 'All done.', usage: TOKENS },
  ],
  [
    'an error as a text',
    'gemini',
    { error: 'No such model' },
    { error: { code: 'agent_error', message: 'gemini: No such model' } },
    1,
  ],
  [
    'an error with its message beside',
    'opencode',
    lines(
      {
        type: 'step_finish',
        part: { type: 'step-finish', cost: '0.42', tokens: { input: '1000', output: 200 } },
      },
      { type: 'error', error: { name: 'UnknownError', message: 'No such model' } },
    ),
    failing('opencode: No such model'),
    1,
  ],
];

const forms = REPORTS.map(([what, name, out, expected, code]) => ({ what, name, out, expected, code }));
test.each(forms)('a report in another form: $what ($name)', async ({ name, out, expected, code }) => {
  const agent = await sharedAgent(name, '');
  writeFileSync(join(agent.home, 'out'), typeof out === 'string' ? out : JSON.stringify(out));
  writeFileSync(join(agent.home, 'err'), '');
  expect(await agent.run({ prompt: said(code === 1 ? 'later' : 'leak') })).toMatchObject(expected);
});

test('an output that looks like JSON and is none does not hold up the service', () => {
  const { read } = AGENT_PROFILES.claude;
  const began = threadMs();
  expect(read('{\n'.repeat(200_000) + JSON.stringify(RESULT))).toMatchObject({ reply: 'All done.' });
  expect(read(`${'{\n'.repeat(200_000)}}`)).toBeUndefined();
  expect(read('{x}\n'.repeat(2_000_000))).toBeUndefined();
  // Without a bound it is far over a minute.
  expect(threadMs() - began).toBeLessThan(computingMs(15_000));
});

test('an agent that is not installed is away', async () => {
  const agent = await openAgent('claude', 'command: ./no-such-program');
  expect(await agent.run()).toMatchObject({ kind: 'not-started', code: 'spawn_failed', affects: 'runner' });
});
