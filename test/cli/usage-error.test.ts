import { expect, test } from 'vitest';
import { cli } from '../support/cli-terminal.ts';

test.each([
  ['logs', "unknown command 'logs'\nsluice --help lists the commands\n"],
  ['import openclaw.json', 'it is written: sluice import openclaw <file>\n'],
  ['transform a.js b.json', 'it is written: sluice transform run <file>\n'],
  ['check mappings/a.yaml', 'it is written: sluice check [options]\n'],
  ['send github payload.json', 'it is written: sluice send [options] <request>\n'],
  ['requests --last 5', 'its options: --config --json --limit --no-text --state --mapping'],
  ['webhooks', 'Usage: sluice webhooks'],
])('sluice %s is told how the command is written', async (line, expected) => {
  const { exitCode, err } = await cli(line.split(' '), { cwd: '/' });
  expect(`${err}\n`).toContain(expected);
  expect(exitCode).toBe(2);
});

test('a name that is nearly right is named', async () => {
  const { err } = await cli(['chek'], { cwd: '/' });
  expect(err).toContain("unknown command 'chek'\n(Did you mean check?)\nsluice --help lists the commands");
});
