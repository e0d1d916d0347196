/** `sluice init` on a terminal, and what is left behind by each answer that it offers. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createLogger } from '../../../src/base/telemetry/telemetry.ts';
import { serviceAdvice } from '../../../src/frontends/cli/lazy-advice.ts';
import { startService } from '../../../src/service/startup/startup.ts';
import { builtMain } from '../../support/built-program.ts';
import { cli } from '../../support/cli-terminal.ts';
import { START_ENV, waitFor } from '../../support/cli-service.ts';
import { runOnTerminal } from '../../support/on-terminal.ts';

const NONE = 'none yet';
let folder: string;
let env: NodeJS.ProcessEnv;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-init-'));
  const bin = join(folder, 'bin');
  await mkdir(bin);
  for (const name of ['claude', 'codex', 'gemini', 'opencode'])
    await writeFile(join(bin, name), '#!/bin/sh\nexit 0\n', { mode: 0o755 });
  env = { PATH: `${bin}:/usr/bin:/bin` };
});

afterEach(() => rm(folder, { recursive: true, force: true }));

test('every answer that is offered leaves a folder in which check and doctor have nothing to say', async () => {
  const offered: string[][] = [];
  const onAsk = (text: string): unknown => offered.push((/ \((.*)\)$/.exec(text)?.[1] ?? '').split(', '));
  await cli(['init', 'asks'], { cwd: folder, env, answers: [NONE, NONE, NONE], onAsk });
  const [agents = [], senders = [], chats = []] = offered;
  expect([agents.length, senders.length, chats.length]).toEqual([5, expect.any(Number), 6]);
  for (let index = 0; index < Math.max(agents.length, senders.length, chats.length); index += 1) {
    const answers = [agents, senders, chats].map((list) => list[index % list.length] ?? '');
    const name = `n${index}`;
    const made = await cli(['init', name], { cwd: folder, env, answers });
    expect([answers, made.exitCode]).toEqual([answers, 0]);
    const cwd = join(folder, name);
    const check = await cli(['check'], { cwd, env });
    expect([answers, check.out, check.err]).toEqual([answers, expect.stringMatching(/^no findings: /), '']);
    const doctor = await cli(['doctor'], { cwd, env });
    expect([answers, doctor.exitCode, doctor.out, doctor.err]).toEqual([
      answers,
      0,
      expect.not.stringContaining('problem'),
      '',
    ]);
    expect(await cli(['test'], { cwd, env })).toMatchObject({ exitCode: 0 });
    // Of a sender a start says what check says, and dev says what its service says: one of each is a process.
    const isLong = process.env['TEST_FORM'] === 'long';
    if (index === 0 || answers[0] === NONE || isLong)
      expect([answers, await saidByDev(cwd)]).toEqual([
        answers,
        expect.not.stringMatching(/warning|error|problem/),
      ]);
    else if (index < Math.max(agents.length, chats.length))
      expect([answers, await saidByService(cwd)]).toEqual([answers, []]);
  }
}, 300_000);

/** What the service says of what it finds, from its start to its end. */
async function saidByService(cwd: string): Promise<readonly unknown[]> {
  const said: unknown[] = [];
  const write = (line: string): void => {
    const each = JSON.parse(line) as { readonly level: string };
    if (each.level === 'warn' || each.level === 'error') said.push(each);
  };
  const service = await startService({
    ...serviceAdvice,
    configFile: join(cwd, 'sluice.yaml'),
    env,
    listen: { port: 0 },
    log: createLogger({ destination: { write } }),
    onFindings: (findings) => said.push(...findings),
  });
  await service.stop();
  return said;
}

/** What `sluice dev` says from its start to its end. */
async function saidByDev(cwd: string): Promise<string> {
  const child = spawn(process.execPath, [builtMain(), 'dev', '--port', '0'], {
    cwd,
    env: { ...START_ENV, ...env },
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (said += String(chunk)));
  const ended = new Promise((done) => child.on('close', done));
  await waitFor(() => /Ctrl-C stops/.exec(said)?.[0]);
  child.kill('SIGTERM');
  const code = await ended;
  expect([said, code]).toEqual([said, 0]);
  return said;
}

test('on a terminal three questions are asked, and the shell is whole afterwards', async () => {
  const { seen, missing, modes } = await runOnTerminal(
    folder,
    [
      ['# ', '$SLUICE init hooks; echo code-$?\n'],
      ['Which coding agent', 'clau\n'],
      ['Who sends?', 'github\n'],
      ['Which chat', '\n'],
      ['There is one address', ''],
      ['code-0', 'cd hooks && $SLUICE check && echo clean-$((40 + 2))\n'],
      ['clean-42', '$SLUICE init other; echo code-$((40 + $?))\n'],
      ['Which coding agent', '\u0003'],
      ['code-41', ''],
    ],
    env,
  );
  expect(missing, seen).toBeUndefined();
  expect(modes.at(-1)).toBe(true);
  expect(seen).toContain('nothing was written');
  expect(seen).toMatch(/no findings: \d+ mappings/);
  expect(await readFile(join(folder, 'hooks/sluice.yaml'), 'utf8')).toContain('runner: {kind: claude}');
  expect(existsSync(join(folder, 'hooks/other'))).toBe(false);
}, 300_000);
