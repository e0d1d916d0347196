/** What is said of a command that lacked a variable, by what it wrote to stderr. */
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { scriptVariables } from '../../src/advice/commands.ts';
import { environmentNote } from '../../src/explanation/setting-words.ts';

type Runner = Parameters<typeof environmentNote>[0];

const say = (
  stderr: string,
  runner: Partial<Runner> = {},
  script: readonly string[] = [],
): string | undefined =>
  environmentNote(
    { kind: 'command', argv: ['./a.sh'], env: {}, passEnv: [], ...runner } as unknown as Runner,
    `the command exited with code 2\n${stderr}`,
    { key: 'gateway.runner', script },
  );

test.each([
  './a.sh: 6: TEAM_ID: parameter not set',
  './a.sh: line 6: TEAM_ID: unbound variable',
  './a.sh: 4: TEAM_ID: no id for the model',
  './a.sh: 6: TEAM_ID: parameter null or not set',
  "Traceback (most recent call last):\nKeyError: 'TEAM_ID'",
  'Error: TEAM_ID is not set',
  'Error: Missing TEAM_ID',
  'panic: environment variable TEAM_ID is empty',
  '`fetch\': key not found: "TEAM_ID" (KeyError)',
  'the TEAM_ID environment variable must be set',
  'zod: TEAM_ID: required',
])('"%s" names the variable to hand on', (stderr) => {
  expect(say(stderr)).toMatch(/It reads TEAM_ID\. Write passEnv: \[TEAM_ID\] at gateway\.runner$/);
});

test.each([
  "file:///a.mjs:3\nprocess.env.TEAM_ID.trim()\n            ^\n\nTypeError: Cannot read properties of undefined (reading 'trim')",
  "  url = process.env['TEAM_ID'].trim()\nTypeError: Cannot read properties of undefined (reading 'trim')",
  '  File "a.py", line 3\n    os.environ.get("TEAM_ID").strip()\nAttributeError: \'NoneType\' object has no attribute \'strip\'',
  "  ENV['TEAM_ID'].strip\nundefined method `strip' for nil:NilClass (NoMethodError)",
  'a.rs:3: std::env::var("TEAM_ID").unwrap()\ncalled `Result::unwrap()` on an `Err` value: NotPresent',
])('the code line %j reads the variable to hand on', (stderr) => {
  expect(say(stderr)).toContain('It reads TEAM_ID. Write passEnv: [TEAM_ID] at gateway.runner');
});

test.each([
  'process.env.TEAM_ID.trim()\nError: connect ECONNREFUSED 127.0.0.1:80',
  "x(process.env.TEAM_ID ?? 'a')\nTypeError: Cannot read properties of undefined (reading 'b')",
])('%j does not stop for a variable', (stderr) => {
  expect(say(stderr)).not.toContain('TEAM_ID');
});

test('a word of stderr that the script reads from its environment names the variable', () => {
  expect(say('fatal: who is TEAM_ID?', {}, ['TEAM_ID'])).toContain('Write passEnv: [TEAM_ID] at');
  expect(say('fatal: who is TEAM_ID?')).toBeUndefined();
});

test.each<[string, string, readonly string[] | undefined]>([
  ['a.sh', ': "${TEAM_KEY:?no key}"', ['TEAM_KEY']],
  ['a.sh', 'curl -H "$TEAM_KEY" "$HOME/x"', ['TEAM_KEY']],
  ['a.sh', 'echo "${TEAM_KEY:-none}"', undefined],
  ['a.sh', 'TEAM_KEY=$(date); echo "$TEAM_KEY"', undefined],
  ['a.sh', 'read -r TEAM_KEY; echo "$TEAM_KEY"', undefined],
  ['a.sh', '. ./env\necho "$TEAM_KEY"', undefined],
  ['a.mjs', 'go(process.env.TEAM_KEY)', ['TEAM_KEY']],
  ['a.mjs', 'process.env.TEAM_KEY ??= "x"', undefined],
  ['a.py', 'key = os.environ["TEAM_KEY"]', ['TEAM_KEY']],
])('%s with %j reads %j', async (name, code, names) => {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-script-'));
  await writeFile(join(folder, name), code);
  expect(scriptVariables([`./${name}`], folder)?.names).toEqual(names);
});

test('a constant that was undefined may be a variable', () => {
  const stderr = `  if (TEAM_KEY.length < 16) throw new Error('MAX_LEN, no')
         ^
TypeError: Cannot read properties of undefined (reading 'length')
    at A_FILE.ask (a.mjs:10:18)`;
  const advice =
    'TEAM_KEY was undefined in the command: if it comes from the environment, write passEnv: [A, TEAM_KEY] at gateway.runner';
  expect(say(stderr, { passEnv: ['A'] })).toContain(advice);
  expect(say(stderr, { env: { TEAM_KEY: '' } })).toBeUndefined();
});

test('what is handed on stays, and what is handed on and not there is to be set', () => {
  expect(say('TEAM: unbound variable', { passEnv: ['A_KEY'] })).toContain('Write passEnv: [A_KEY, TEAM]');
  expect(say('TEAM: unbound variable', { passEnv: ['TEAM'] })).toContain(
    'the service itself does not have it',
  );
});

test.each([
  'Error: connect ECONNREFUSED 127.0.0.1:80',
  "code: 'ERR_MODULE_NOT_FOUND'",
  'sh: 1: MY_TOOL: not found',
  'TypeError: JSON is missing',
])('"%s" is about something else', (stderr) => {
  expect(say(stderr)).toBeUndefined();
});

test.each<[string, Partial<Runner>]>([
  ['TEAM_ID is missing', { env: { TEAM_ID: '' } }],
  ['exit', { argv: ['sh', '-c', 'NAME=$(date); echo $NAME'] }],
  ['exit', { argv: ['sh', '-c', 'echo ${MORE:-none}'], passEnv: ['A_KEY'] }],
])('"%s" of %j needs nothing handed on', (stderr, runner) => {
  expect(say(stderr, runner)).toBeUndefined();
});
