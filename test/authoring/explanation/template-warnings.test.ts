/** A warning of `check` on a template, beside a request that was printed with it. */
import { expect, test } from 'vitest';
import { advise } from '../../../src/authoring/advice/advice.ts';
import { templateWarnings } from '../../../src/authoring/explanation/explain-request.ts';
import { parseDocument } from '../../../src/base/document/facts.ts';
import { compileMappings } from '../../../src/engine/mapping/compile.ts';
import { evaluateHook, settingsWith } from '../../support/hook-fixture.ts';
import { printed } from '../../support/printed.ts';

const TEXT = `
- {id: wrong, match: {path: a}, messageTemplate: 'at \${at}'}
- {id: right, match: {path: b}, messageTemplate: 'at {{at}}'}
`;

test('is told of the requests of its mapping, and of no other', () => {
  const { document } = parseDocument({ file: 'mappings.yaml', text: TEXT }, 'yaml');
  const entries = [0, 1].map((index) => ({ value: document!.root.at([index]), dialect: 'sluice' as const }));
  const { table, findings: found, subjects } = compileMappings(entries, {});
  const findings = advise(found, subjects);
  const told = (path: string) => {
    const payload = { at: '2026-12-03T13:30:00Z' };
    const { evaluation } = evaluateHook({ path, payload }, settingsWith({ table: table! }));
    return templateWarnings(evaluation, findings);
  };
  expect(printed(told('a'))).toEqual([
    {
      setting: 'messageTemplate',
      at: 'mappings.yaml:2:54',
      text: '"${at}" is an expression of another tool; here it is text; look in docs/other-tools.md, which shows conditions and templates of other tools as they are written here',
    },
  ]);
  expect(told('b')).toEqual([]);
});
