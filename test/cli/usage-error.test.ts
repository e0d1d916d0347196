import { expect, test } from 'vitest';
import { cli } from '../support/cli-terminal.ts';

test.each([
  ['validate', 'hint: sluice check finds every error'],
  ['logs', 'hint: sluice requests lists the last requests with their ids'],
  ['list', 'hint: sluice requests lists'],
  ['start', 'hint: sluice dev runs the service while you write mappings, sluice serve in production'],
  ['migrate openclaw.json', 'hint: sluice import openclaw openclaw.json'],
  ['import openclaw.json', 'hint: write sluice import openclaw openclaw.json\n'],
  ['transform a.js b.json', 'hint: write sluice transform run a.js --request b.json\n'],
  ['check mappings/a.yaml', 'hint: leave the name out'],
  ['send github payload.json', 'hint: what is sent stands in a request file'],
  ['send github -d {}', 'hint: what is sent stands in a request file'],
  ['dev -p 8080', 'hint: write --port 8080\n'],
  ['serve --watch', 'hint: sluice dev reads the files again when they change'],
  ['requests --last 5', 'its options: --config --json --limit --no-text --state --mapping'],
  ['webhooks', 'Usage: sluice webhooks'],
])('sluice %s is told what it most likely means', async (line, expected) => {
  const { exitCode, err } = await cli(line.split(' '), { cwd: '/' });
  expect(`${err}\n`).toContain(expected);
  expect(err).not.toContain('Did you mean');
  expect(exitCode).toBe(2);
});

test('a name that is nearly right is named', async () => {
  const { err } = await cli(['chek'], { cwd: '/' });
  expect(err).toContain("unknown command 'chek'\n(Did you mean check?)\nsluice --help lists the commands");
});
