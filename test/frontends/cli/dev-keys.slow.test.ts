/** The letters of `sluice dev`, on a real terminal with a shell that has jobs: it is whole after every way to end. */
import { expect, test } from 'vitest';
import { openBench } from '../../support/cli-service.ts';
import { runOnTerminal, type SeenOnTerminal, type TerminalSteps } from '../../support/on-terminal.ts';

const CONFIG =
  'hooks: {enabled: true, mappings: [{id: a, match: {path: a}, messageTemplate: "{{x}}", deliver: false}]}\n';
const CTRL_Z = '\u001A';

const onTerminal = (steps: TerminalSteps): Promise<SeenOnTerminal> =>
  runOnTerminal(
    openBench({
      'sluice.yaml': CONFIG,
      'test/golden/a/one.request.yaml': 'path: a\nbody: {x: hello}\n',
    }).folder,
    steps,
  );

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
    ['Stopped', ''],
    // What is written before the shell has asked again could be for the service, which reads for as long as it lives.
    ['# ', `kill -${signal} %1; fg\n`],
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
