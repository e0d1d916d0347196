/** Why a command failed, by what it said and what it lacked, and what to write. */
import { expect, test } from 'vitest';
import { environmentNote } from '../../../src/authoring/explanation/run-notes.ts';
import { printSentence } from '../../../src/base/finding.ts';

type Runner = Parameters<typeof environmentNote>[0];

const say = (stderr: string, runner: Partial<Runner> = {}): string | undefined => {
  const note = environmentNote(
    { argv: ['./a.sh'], env: {}, passEnv: [], ...runner },
    `the command exited with code 2\n${stderr}`,
    'gateway.runner',
  );
  return note && printSentence(note);
};

test.each([
  './a.sh: 6: TEAM_ID: parameter not set',
  './a.sh: line 6: TEAM_ID: unbound variable',
  './a.sh: 6: TEAM_ID: parameter null or not set',
  "Traceback (most recent call last):\nKeyError: 'TEAM_ID'",
  'Error: TEAM_ID is not set',
  'Error: Missing TEAM_ID',
  'panic: environment variable TEAM_ID is empty',
  'zod: TEAM_ID: required',
])('"%s" names the variable to hand on', (stderr) => {
  expect(say(stderr)).toMatch(/It reads TEAM_ID\. Write passEnv: \[TEAM_ID\] at gateway\.runner$/);
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

test.each<[string, Partial<Runner>]>([['TEAM_ID is missing', { env: { TEAM_ID: '' } }]])(
  '"%s" of %j needs nothing handed on',
  (stderr, runner) => {
    expect(say(stderr, runner)).toBeUndefined();
  },
);
