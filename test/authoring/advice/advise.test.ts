import { expect, test } from 'vitest';
import { advise } from '../../../src/authoring/advice/advice.ts';
import type { Look } from '../../../src/authoring/advice/rule.ts';
import { say, type Finding } from '../../../src/base/finding.ts';
import { said } from '../../support/said.ts';
import { compileYaml } from '../../support/mapping-compile.ts';

const MAPPING = 'id: a\nmatch: {path: a}\nmessageTemplate: "{{text}}"\nsessionKey: "t-{{event.thread_ts}}"\n';

const AT_TEMPLATE: Look = {
  on: 'mapping',
  codes: ['LOOKED'],
  find: ({ located, source }) => [
    {
      message: say`looked at ${source.messageTemplate ?? ''}`,
      at: located.place(['messageTemplate']),
      hint: say`h`,
    },
  ],
};

test('without subjects nothing is looked for', () => {
  expect(advise(compileYaml(MAPPING).findings)).toEqual([]);
});

test('a look at what is in order gives a warning of its own', () => {
  const [found, ...others] = advise([], compileYaml(MAPPING).subjects, [AT_TEMPLATE]);
  expect(others).toEqual([]);
  expect([found?.severity, found?.code, said(found?.message)]).toEqual([
    'warning',
    'LOOKED',
    'looked at {{text}}',
  ]);
});

test('what a look finds stands in the order of its file', () => {
  const { subjects } = compileYaml(MAPPING);
  const [looked] = advise([], subjects, [AT_TEMPLATE]);
  const source = looked?.at?.source ?? { file: '', text: '' };
  const found = (code: string, start: number): Finding => ({
    severity: 'warning',
    code,
    message: say`x`,
    at: { source, start, end: start },
  });
  const other: Finding = { severity: 'warning', code: 'OTHER', message: say`x` };
  const codes = (findings: readonly Finding[]): readonly string[] =>
    advise(findings, subjects, [AT_TEMPLATE]).map(({ code }) => code);
  expect(codes([found('BEFORE', 0), found('AFTER', 60), other])).toEqual([
    'BEFORE',
    'LOOKED',
    'AFTER',
    'OTHER',
  ]);
  expect(codes([other, found('AFTER', 60)])).toEqual(['OTHER', 'LOOKED', 'AFTER']);
  expect(codes([other])).toEqual(['OTHER', 'LOOKED']);
});
