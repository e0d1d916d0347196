/** The letters of `sluice dev`, on a real terminal with a shell that has jobs: it is whole after every way to end. */
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { openBench } from '../../support/cli-service.ts';
import { builtMain } from '../../support/built-program.ts';

/** Runs sh on a terminal of its own: waits for each text, then writes; prints what was seen, and the terminal's mode then. */
const DRIVER = `
import json, os, pty, select, sys, termios, time
steps = json.loads(sys.argv[1])
pid, fd = pty.fork()
if pid == 0:
    os.execvp('sh', ['sh', '-i', '-m'])
seen = ''
def whole():
    flags = termios.tcgetattr(fd)[3]
    return bool(flags & termios.ECHO) and bool(flags & termios.ICANON) and bool(flags & termios.ISIG)
modes = []
for wanted, keys in steps:
    part, end = '', time.time() + 60
    while wanted not in part and time.time() < end:
        ready, _, _ = select.select([fd], [], [], 0.2)
        if ready:
            try: part += os.read(fd, 65536).decode('utf8', 'replace')
            except OSError: break
    seen += part
    if wanted not in part:
        print(json.dumps({'seen': seen, 'missing': wanted, 'modes': modes})); os.kill(pid, 9); sys.exit()
    modes.append(whole())
    os.write(fd, keys.encode())
print(json.dumps({'seen': seen, 'modes': modes}))
os.kill(pid, 9)
`;

interface Seen {
  readonly seen: string;
  /** The text that never came. */
  readonly missing?: string;
  /** Whether lines, echo and signals of the terminal were on at each step. */
  readonly modes: readonly boolean[];
}

const CONFIG =
  'hooks: {enabled: true, mappings: [{id: a, match: {path: a}, messageTemplate: "{{x}}", deliver: false}]}\n';
const CTRL_Z = '\u001A';

async function onTerminal(steps: readonly (readonly [wanted: string, keys: string])[]): Promise<Seen> {
  const bench = openBench({
    'sluice.yaml': CONFIG,
    'test/golden/a/one.request.yaml': 'path: a\nbody: {x: hello}\n',
  });
  const child = spawn('python3', ['-c', DRIVER, JSON.stringify(steps)], {
    cwd: bench.folder,
    env: { ...process.env, PS1: '# ', PORT: '0', SLUICE: `${process.execPath} ${builtMain()}` },
    timeout: 280_000,
  });
  return JSON.parse(await text(child.stdout)) as Seen;
}

const START = ['# ', '$SLUICE dev --port 0\n'] as const;

test('letters do what they say, also after the service was stopped, in the background and in front again', async () => {
  const { seen, missing, modes } = await onTerminal([
    START,
    ['q ends', 'e\n'],
    ['no request came yet', 's\n'],
    ['a/one: starts 1 run by echo', ''],
    ['(request ', 'x\n'],
    ['Keys, each', 'e\n'],
    ['answered 202', CTRL_Z],
    ['Stopped', 'echo still-$((40 + 2))\n'],
    ['still-42', 'bg\n'],
    // What is written now is for the shell, and the service is not stopped by it.
    ['# ', 'e\n'],
    ['not found', 'fg\n'],
    ['dev', 'e\n'],
    ['answered 202', 'q\n'],
    ['stopping within', ''],
    ['# ', 'echo over-$((40 + 3))\n'],
    ['over-43', ''],
  ]);
  expect(missing, seen).toBeUndefined();
  expect(new Set(modes)).toEqual(new Set([true]));
}, 300_000);

const SIGNALS = ['KILL', 'TERM', 'SEGV', 'HUP'];

test.for(SIGNALS)('the terminal is whole after SIG%s', { timeout: 300_000 }, async (signal) => {
  const { seen, missing, modes } = await onTerminal([
    START,
    ['q ends', CTRL_Z],
    ['Stopped', `kill -${signal} %1; fg\n`],
    ['# ', 'echo over-$((40 + 3))\n'],
    ['over-43', ''],
  ]);
  expect(missing, seen).toBeUndefined();
  expect(new Set(modes)).toEqual(new Set([true]));
});

test('with --no-keys nothing is read', async () => {
  const { seen, missing } = await onTerminal([
    ['# ', '$SLUICE dev --port 0 --no-keys\n'],
    ['Ctrl-C stops', 'e\n\u0003'],
    ['# ', ''],
  ]);
  expect(missing, seen).toBeUndefined();
  expect(seen).not.toContain('Keys, each');
  expect(seen).not.toContain('no request came yet');
}, 300_000);
