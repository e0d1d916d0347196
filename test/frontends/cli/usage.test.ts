/** What is said of the commands there are, and to whom wrote another one, or a mapping that there is not. */
import { expect, test } from 'vitest';
import { openStorage } from '../../../src/engine/storage/storage.ts';
import { openBench } from '../../support/cli-service.ts';
import { cli } from '../../support/cli-terminal.ts';
import { nearMappings } from '../../../src/frontends/cli/operating/store-tasks.ts';
import { settingsWith } from '../../support/hook-fixture.ts';

test.each([
  ['logs', "unknown command 'logs'\nsluice --help lists the commands\n"],
  ['import openclaw.json', 'it is written: sluice import openclaw <file>\n'],
  ['transform a.js b.json', 'it is written: sluice transform run <file>\n'],
  ['check mappings/a.yaml', 'it is written: sluice check [options]\n'],
  ['send github payload.json', 'it is written: sluice send [options] <request>\n'],
  ['queue show --last 5', 'it is written: sluice queue list [options] [id]\n'],
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

test.each([
  ['pasue', 'pasue is no command of "sluice queue" and no id; did you mean pause?'],
  [
    'github',
    'github is no command of "sluice queue" and no id; it takes list, show, retry, drop, pause, resume, or an id',
  ],
])('queue %s, which no work has as its id, is told the commands', async (asked, told) => {
  const bench = openBench({ 'sluice.yaml': 'hooks: {enabled: true}\nstorage: {url: "sqlite:./s.db"}\n' });
  await (await openStorage(`sqlite:${bench.folder}/s.db`)).close();
  expect(await bench.run(['queue', asked])).toMatchObject({
    exitCode: 2,
    err: expect.stringContaining(told),
  });
  const id = '019b76da-a800-86cd-8d28-067be731e3ca';
  expect(await bench.run(['queue', id])).toMatchObject({ exitCode: 1, err: expect.stringContaining(id) });
});

test('the help shows at most 22 commands, in groups, and names every other one', async () => {
  const { out } = await cli(['--help'], { cwd: '/' });
  const commands = [...out.matchAll(/^ {2}([a-z]+) /gm)].map(([, name]) => name);
  expect(commands.length).toBeGreaterThan(15);
  expect(commands.length).toBeLessThanOrEqual(22);
  expect(out.match(/^[A-Z][a-z ]+:$/gm)).toEqual([
    'Options:',
    'Begin:',
    'Run:',
    'Write mappings:',
    'Look at what happened:',
    'Connect and keep:',
  ]);
  expect(out).toMatch(/More rarely: .*\bverify\b.*replay/);
});

const { mappings } = settingsWith({
  table: `
- {id: image-scanned, match: {path: harbor/scans}, name: Harbor, messageTemplate: x}
- {id: quota, match: {path: harbor/quota}, name: "Harbor {{project}}", messageTemplate: x}
- {id: pushed, match: {path: registry, source: a}, name: Registry, messageTemplate: x}
- {id: deleted, match: {path: registry}, messageTemplate: x}
`,
}).table;

test.each([
  ['image-scanned', undefined],
  ['imagescaned', /; did you mean image-scanned\?$/],
  ['something else', /; the ids are image-scanned, quota, pushed, deleted$/],
])('%s as the id of a mapping', (asked, told) => {
  const text = nearMappings(asked, mappings);
  if (told === undefined) expect(text).toBeUndefined();
  else expect(text).toMatch(told);
});

test('without any mapping there is no id', () => {
  expect(nearMappings('a', [])).toBe('no mapping has the id "a": there is no mapping');
});
