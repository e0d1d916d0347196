/** Rules that are right, and hardly meant. */
import { expect, test } from 'vitest';
import { said } from '../../support/said.ts';
import { adviseFile } from '../../support/mapping-compile.ts';

const codes = (when: unknown, more = ''): readonly string[] =>
  adviseFile(`id: a\nmatch: {path: a, when: ${JSON.stringify(when)}}\nmessageTemplate: x\n${more}`).map(
    ({ code }) => code,
  );
const A = { var: 'a' };

test.each<[unknown, string]>([
  [{ '==': [A, ['b', 'c']] }, 'CONDITION_OPERANDS'],
  [{ in: [{ var: '$.a' }, ['b']] }, 'FOREIGN_PATH'],
  [{ '!': { var: 'headers.X-A' } }, 'HEADER_NAME_CASE'],
])('a condition %j is told as %s', (when, code) => {
  expect(codes(when)).toEqual([code]);
});

test.each<[unknown]>([
  [{ '===': [A, true] }],
  [{ or: [{ '!==': [A, 'b'] }, { '!==': [{ var: 'c' }, 'b'] }] }],
  [{ some: [{ var: 'list' }, { '===': [{ var: '$.a' }, 'b'] }] }],
])('a condition %j is left alone', (when) => {
  expect(codes(when)).toEqual([]);
});

test('of a wrong rule only what is wrong is told, not what its operands are suspected of', () => {
  expect(codes({ equals: [{ '==': [A, ['b']] }, 1] })).toEqual(['CONDITION_UNKNOWN_OPERATOR']);
});

test('of a disabled mapping its rules are looked at', () => {
  expect(codes({ '==': [A, ['b', 'c']] }, 'enabled: false')).toEqual(['CONDITION_OPERANDS']);
});

test('what is compared with a secret is not repeated', () => {
  const when = { '==': [{ var: 'headers.x-gitlab-token' }, ['hunter2', 'hunter3']] };
  const [found] = adviseFile(`id: a\nmatch: {path: a, when: ${JSON.stringify(when)}}\nmessageTemplate: x\n`);
  expect(`${said(found?.message)} ${said(found?.hint)}`).not.toContain('hunter');
  expect(said(found?.hint)).toContain('let verify compare it, and no condition');
});
