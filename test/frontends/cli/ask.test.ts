/** Commands ask a person for what no flag says, in one way. */
import { expect, test } from 'vitest';
import { askFor } from '../../../src/frontends/cli/setup/ask.ts';
import { silentTerminal } from '../../support/cli-terminal.ts';

const answering = (...answers: readonly (string | undefined)[]) => {
  const left = [...answers];
  const asked: string[] = [];
  const answer = (question: string): Promise<string | undefined> => {
    asked.push(question);
    return Promise.resolve(left.shift());
  };
  return { asked, terminal: { ...silentTerminal('/'), interactive: true, ask: answer, choose: answer } };
};

test('the flag is named where nobody can be asked', async () => {
  const { terminal, asked } = answering('a');
  const asking = askFor({ ...terminal, interactive: false }, '--account', 'Which address?');
  await expect(asking).rejects.toMatchObject({
    message: 'Which address? Nobody can be asked here: say it with --account',
    exitCode: 2,
  });
  expect(asked).toEqual([]);
});

test('an empty line is asked about again, and who leaves gets nothing', async () => {
  const { terminal, asked } = answering('', 'me@example.com', undefined);
  expect(await askFor(terminal, '--account', 'Which address?')).toBe('me@example.com');
  expect(asked).toEqual(['Which address? ', 'Which address? ']);
  await expect(askFor(terminal, '--auth', 'How?', ['password', 'oauth2'])).rejects.toThrow(
    'nothing was written',
  );
});

test('a secret is asked for as one', async () => {
  const { terminal } = answering();
  const ask = (_question: string, how?: { readonly isSecret: boolean }): Promise<string> =>
    Promise.resolve(how?.isSecret === true ? 'hidden' : 'shown');
  expect(await askFor({ ...terminal, ask }, '--token-file', 'Paste it', 'secret')).toBe('hidden');
  expect(await askFor({ ...terminal, ask }, '--account', 'Which address?')).toBe('shown');
});
