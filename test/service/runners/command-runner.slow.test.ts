import { existsSync, mkdtempSync, readFileSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { SafeText } from '../../../src/base/action.ts';
import {
  createCommandRunner,
  type CommandSettings,
  type ExplainStart,
} from '../../../src/service/runners/command-runner.ts';
import { endProcessTree, readStartTicks } from '../../../src/service/runners/process-tree.ts';
import type { Turn, TurnResult } from '../../../src/service/runners/runner.ts';
import type { ProcessMark } from '../../../src/engine/storage/storage.ts';
import { longerHere } from '../../support/longer-here.ts';

let runs = 0;

function turnOf(change: Partial<Turn> = {}): Turn {
  runs += 1;
  return {
    runId: `run-${process.pid}-${runs}`,
    kind: 'hook',
    attempt: 1,
    sessionKey: 'hook:test',
    sessionId: '0b1e7c3a-5d2f-8a4b-9c6d-1e2f3a4b5c6d',
    name: 'Test',
    prompt: 'the prompt' as SafeText,
    message: 'the message',
    timeoutSeconds: 10,
    history: [],
    ...change,
  };
}

interface Ran {
  readonly result: TurnResult;
  readonly marks: readonly ProcessMark[];
  readonly tookMs: number;
}

async function run(
  script: string | readonly string[],
  change: Partial<CommandSettings> = {},
  options: {
    turn?: Partial<Turn>;
    signal?: AbortSignal;
    host?: Record<string, string>;
    secrets?: readonly string[];
    explainStart?: ExplainStart;
  } = {},
): Promise<Ran> {
  const settings: CommandSettings = {
    kind: 'command',
    argv: typeof script === 'string' ? ['sh', '-c', script] : script,
    prompt: 'stdin',
    env: {},
    passEnv: [],
    retryExitCodes: [],
    maxReplyBytes: 1_000_000,
    ...change,
  };
  const marks: ProcessMark[] = [];
  const host = { PATH: process.env['PATH'] ?? '', ...options.host };
  const startedAt = performance.now();
  const result = await createCommandRunner(settings, host, options).run(turnOf(options.turn), {
    signal: options.signal ?? new AbortController().signal,
    onProcess: async (mark) => void marks.push(mark),
  });
  return { result, marks, tookMs: performance.now() - startedAt };
}

function completed(ran: Ran): Extract<TurnResult, { kind: 'completed' }> {
  expect(ran.result.kind).toBe('completed');
  return ran.result as Extract<TurnResult, { kind: 'completed' }>;
}

/** Pids that carry a word in their command line. */
function alive(word: string): string[] {
  return readdirSync('/proc').filter((name) => {
    if (!/^\d+$/.test(name)) return false;
    try {
      const zombie = /\) Z /.test(readFileSync(`/proc/${name}/stat`, 'latin1'));
      return !zombie && readFileSync(`/proc/${name}/cmdline`, 'latin1').split('\0').includes(word);
    } catch {
      return false;
    }
  });
}

const scratch = mkdtempSync(join(tmpdir(), 'sluice-command-'));
/** A duration no other process sleeps for, so that survivors are found by it. */
let sleepSeconds = 4_000_000 + process.pid;
function uniqueSleep(): string {
  sleepSeconds += 100_000;
  return String(sleepSeconds);
}

describe('a reply', () => {
  test('is what the command prints after reading the prompt on stdin', async () => {
    const ran = await run('printf "got: "; cat');
    expect(ran.result).toEqual({ kind: 'completed', outcome: 'ok', reply: 'got: the prompt' });
  });

  test('loses terminal codes and outer white space', async () => {
    expect(completed(await run(String.raw`printf '\033[1m bold \033[0m\n\n'`)).reply).toBe('bold');
  });

  test('is taken from a path in JSON output, also from the last line of a stream of documents', async () => {
    const json = `printf '{"a":1}\n{"result":{"parts":[{"text":"hi"}]}}\n'`;
    expect(completed(await run(json, { replyPath: 'result.parts.0.text' })).reply).toBe('hi');
    expect(completed(await run(`printf '{"n":5}'`, { replyPath: 'n' })).reply).toBe('5');
  });

  test.each([
    ['plain words', 'reply_not_json'],
    ['{"other":1}', 'reply_not_found'],
    ['{"result":null}', 'reply_not_found'],
  ])('that the path does not find in %s is an error', async (output, code) => {
    const result = completed(await run(`printf '%s' '${output}'`, { replyPath: 'result' }));
    expect(result).toMatchObject({ outcome: 'error', error: { code } });
  });

  test('survives a command that closes stdin unread, however long the prompt', async () => {
    const prompt = 'x'.repeat(2_000_000) as SafeText;
    expect(completed(await run('exec <&-; echo done', {}, { turn: { prompt } })).reply).toBe('done');
  });

  test('arrives whole when it is large', async () => {
    const prompt = 'é'.repeat(400_000) as SafeText;
    expect(completed(await run('cat', {}, { turn: { prompt } })).reply).toBe(prompt);
  });

  test('over the limit ends the command and is an error', async () => {
    const ran = await run('yes', { maxReplyBytes: 10_000 });
    expect(completed(ran)).toMatchObject({ outcome: 'error', error: { code: 'reply_too_large' }, reply: '' });
    expect(ran.tookMs).toBeLessThan(longerHere(5_000));
  });
});

describe('exit codes', () => {
  test.each([
    ['exit 3', 'exit_3'],
    ['exit 137', 'exit_137'],
    ['kill -KILL $$', 'signal_sigkill'],
  ])('%s is the error %s', async (script, code) => {
    expect(completed(await run(script))).toMatchObject({ outcome: 'error', error: { code } });
  });

  test('say no secret that the command was given, and leave its reply alone', async () => {
    const env = {
      API_TOKEN: 'sk-very-secret-1',
      PASS: 'word-secret-2',
      PWD: '/folder-of-it',
      PLAIN: 'plain-value-1',
    };
    const say = 'echo "$API_TOKEN $PLAIN"; echo "bad key $API_TOKEN, $PLAIN; $PASS in /folder-of-it" >&2';
    const failed = completed(await run(`${say}; exit 1`, { env }));
    expect(failed).toMatchObject({
      error: {
        message: expect.stringContaining('bad key [removed], plain-value-1; [removed] in /folder-of-it'),
      },
    });
    expect(JSON.stringify(failed)).not.toContain('sk-very-secret-1');
    expect(completed(await run(say, { env }))).toMatchObject({ reply: 'sk-very-secret-1 plain-value-1' });
    // Known as one by its reference, whatever its variable is called.
    const known = completed(await run(`${say}; exit 1`, { env }, { secrets: ['plain-value-1'] }));
    expect(JSON.stringify(known)).not.toContain('plain-value-1');
  });

  test('carry only the last 4 KB of stderr and what was printed', async () => {
    const result = completed(await run('echo partly; yes noise | head -c 50000 >&2; echo END >&2; exit 1'));
    expect(result.reply).toBe('partly');
    expect(result.error?.message).toMatch(/^the command exited with code 1\n[^]*END$/);
    expect(result.error?.message.length).toBeLessThan(4_200);
  });

  test('listed as retry codes mean that nothing started', async () => {
    const ran = await run('exit 75', { retryExitCodes: [75] });
    expect(ran.result).toMatchObject({ kind: 'not-started', code: 'exit_75', final: false });
  });

  test.each([
    [['/nowhere/agent'], {}, false],
    [['sh', '-c', 'true'], { cwd: '/nowhere' }, false],
    [['sh', '-c', 'true'], { env: { BIG: 'x'.repeat(3_000_000) } }, true],
  ])('a command that cannot be spawned was not started (%#)', async (argv, change, final) => {
    const ran = await run(argv, change);
    expect(ran.result).toMatchObject({ kind: 'not-started', code: 'spawn_failed', final });
    expect(ran.marks).toEqual([]);
  });

  test('whoever is asked says why a program did not start; else the code of the system does', async () => {
    const explainStart: ExplainStart = async ([program]) => `${program ?? ''} is nowhere; install it`;
    const told = await run(['/nowhere/agent'], {}, { explainStart });
    const plain = await run(['/nowhere/agent']);
    const message = (ran: Ran): string => ('message' in ran.result ? ran.result.message : '');
    expect(message(told)).toBe(
      'the command /nowhere/agent did not start (ENOENT): /nowhere/agent is nowhere; install it',
    );
    expect(message(plain)).toContain('did not start (ENOENT): no such file');
    expect(message(await run(['sh'], { cwd: '/nowhere' }, { explainStart }))).toContain('(cwd)');
  });
});

describe('arguments, files and environment', () => {
  const show = [process.execPath, '-e', 'console.log(JSON.stringify(process.argv.slice(1)))', '--'];

  test('placeholders are filled in, absent values go with their flag', async () => {
    const argv = [
      ...show,
      '--model',
      '{model}',
      '--thinking',
      '{thinking}',
      '--effort={thinking}',
      '--timeout={timeout_seconds}s',
      '{"a":1}',
      '{session_key}',
      '{run_id}',
    ];
    const turn = turnOf({ model: 'local/small' });
    const { reply } = completed(await run(argv, {}, { turn }));
    expect(JSON.parse(reply)).toEqual([
      '--model',
      'local/small',
      '--timeout=10s',
      '{"a":1}',
      'hook:test',
      turn.runId,
    ]);
  });

  test('a value that would become an option is refused before anything starts', async () => {
    const ran = await run([...show, '{session_key}'], {}, { turn: { sessionKey: '--dangerous' } });
    expect(ran.result).toMatchObject({ kind: 'not-started', code: 'unsafe_argument', final: true });
    expect(ran.marks).toEqual([]);
  });

  test('prompt and history come as private files, which are gone afterwards', async () => {
    const history = [{ role: 'user', text: 'earlier', at: 1 }] as const;
    const script = 'stat -c %a "$0" "$SLUICE_HISTORY_FILE" "$(dirname "$0")"; cat "$0" "$1"; echo; echo "$0"';
    const argv = ['sh', '-c', script, '{prompt_file}', '{history_file}'];
    const lines = completed(await run(argv, { prompt: 'file' }, { turn: { history } })).reply.split('\n');
    expect(lines.slice(0, 3)).toEqual(['600', '600', '700']);
    expect(lines[3]).toBe(`the prompt${JSON.stringify(history)}`);
    expect(existsSync(lines[4] ?? '')).toBe(false);
  });

  test('only the allow-list of the environment is passed on, and ours cannot be overridden', async () => {
    const host = { HOME: '/h', LC_TIME: 'C', SECRET_TOKEN: 's', EXTRA: 'e', SLUICE_RUN_ID: 'outer' };
    const turn = turnOf({ model: 'm', thinking: 'low' });
    const settings = { passEnv: ['EXTRA'], env: { ADDED: 'a', SLUICE_RUN_ID: 'spoofed' } };
    const printed = completed(await run('env', settings, { host, turn })).reply;
    const variables = Object.fromEntries(printed.split('\n').map((line) => line.split('=')));
    expect(variables).toMatchObject({
      HOME: '/h',
      LC_TIME: 'C',
      EXTRA: 'e',
      ADDED: 'a',
      SLUICE_RUN_ID: turn.runId,
      SLUICE_SESSION_KEY: 'hook:test',
      SLUICE_MODEL: 'm',
      SLUICE_THINKING: 'low',
      SLUICE_TIMEOUT_SECONDS: '10',
    });
    expect(variables).not.toHaveProperty('SECRET_TOKEN');
  });
});

describe('the process', () => {
  test('is on record before the prompt reaches it', async () => {
    const file = join(scratch, 'order');
    const settings: CommandSettings = {
      kind: 'command',
      argv: ['sh', '-c', `cat > ${file}`],
      prompt: 'stdin',
      env: {},
      passEnv: [],
      retryExitCodes: [],
      maxReplyBytes: 1000,
    };
    let seen: { pgid: number; ticks: string; written: string } | undefined;
    const runner = createCommandRunner(settings, process.env);
    await runner.run(turnOf(), {
      signal: new AbortController().signal,
      onProcess: async ({ pgid, startTicks }) => {
        expect(startTicks).toBe(readStartTicks(pgid));
        seen = { pgid, ticks: startTicks, written: existsSync(file) ? readFileSync(file, 'utf8') : '' };
      },
    });
    expect(seen?.ticks).toMatch(/^\d+$/);
    expect(seen?.written).toBe('');
    expect(readFileSync(file, 'utf8')).toBe('the prompt');
  });

  test.each([
    ['hangs', (s: string) => `sleep ${s}`],
    ['ignores SIGTERM', (s: string) => `trap "" TERM; while :; do sleep ${s}; done`],
    ['forks children that hold its output', (s: string) => `sleep ${s} & sleep ${s} & wait`],
    ['leaves its group with setsid', (s: string) => `setsid sleep ${s} & sleep ${s}`],
    [
      'forks twice and leaves its group',
      (s: string) => `(setsid sh -c "sleep ${s} & sleep ${s}" &) ; sleep ${s}`,
    ],
    ['hides its environment but stays in the group', (s: string) => `(env -i sleep ${s} &); sleep ${s}`],
  ])('that %s ends at the deadline with everything it started', async (_, script) => {
    const seconds = uniqueSleep();
    const ran = await run(script(seconds), {}, { turn: { timeoutSeconds: 0.4 } });
    expect(completed(ran)).toMatchObject({ outcome: 'timeout', error: { code: 'timeout' } });
    expect(ran.tookMs).toBeLessThan(longerHere(5_000));
    expect(alive(seconds)).toEqual([]);
  });

  test('that exits does not wait for what it left behind, and that ends too', async () => {
    const seconds = uniqueSleep();
    const ran = await run(`setsid sleep ${seconds} & echo reply`);
    expect(completed(ran)).toMatchObject({ outcome: 'ok', reply: 'reply' });
    expect(ran.tookMs).toBeLessThan(longerHere(4_000));
    expect(alive(seconds)).toEqual([]);
  });

  test('ends when the service stops', async () => {
    const seconds = uniqueSleep();
    const controller = new AbortController();
    const running = run(`sleep ${seconds}`, {}, { signal: controller.signal });
    await expect.poll(() => alive(seconds).length).toBe(1);
    controller.abort();
    expect(completed(await running)).toMatchObject({ outcome: 'error', error: { code: 'interrupted' } });
    expect(alive(seconds)).toEqual([]);
  });

  test('may run longer than a timer can count', async () => {
    const ran = await run('echo fine', {}, { turn: { timeoutSeconds: 10_000_000 } });
    expect(completed(ran)).toMatchObject({ outcome: 'ok', reply: 'fine' });
  });
});

describe('recovery', () => {
  test('does not end a process whose pid was used again', async () => {
    const seconds = uniqueSleep();
    const controller = new AbortController();
    const running = run(`exec sleep ${seconds}`, {}, { signal: controller.signal });
    await expect.poll(() => alive(seconds).length).toBe(1);
    const pgid = Number(alive(seconds)[0]);
    expect(await endProcessTree({ runId: 'other', pgid, startTicks: '1', own: false }, 100)).toBe(true);
    expect(alive(seconds)).toHaveLength(1);
    const startTicks = readStartTicks(pgid);
    expect(await endProcessTree({ runId: 'other', pgid, startTicks, own: false }, 100)).toBe(true);
    expect(alive(seconds)).toEqual([]);
    await running;
  });
});
