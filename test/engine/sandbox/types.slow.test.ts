import { chmodSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { formatPlace } from '../../../src/base/document/document.ts';
import { defineTransform, typecheckTransforms } from '../../../src/engine/sandbox/sandbox.ts';
import { said } from '../../support/said.ts';
import { refTo, SandboxFixture } from '../../support/sandbox-fixture.ts';

const fixture = new SandboxFixture();
afterAll(() => fixture.dispose());
const project = path.resolve('.');

test('a well typed transform passes where sluice is not installed', async () => {
  fixture.write({
    'good.ts': `import { defineTransform, type TransformContext, type TransformResult } from 'sluice';
import table from './table.json' with { type: 'json' };
import { shout } from './lib/shout.ts';
interface Push { repository: { full_name: string } }
export default defineTransform<Push>(({ payload, headers }) => {
  console.log(headers['x-github-event']?.length, new URL('https://example.com').hostname, structuredClone(table).n);
  return { message: shout(payload.repository.full_name), wakeMode: 'now' };
});
export const plain = async (context: TransformContext): Promise<TransformResult> => [{ kind: 'wake', text: context.payload.x }, null];`,
    'lib/shout.ts': 'export const shout = (text: string): string => text.toUpperCase();',
    'table.json': '{"n": 1}',
  });
  const checked = await typecheckTransforms(fixture.dir, [refTo('good.ts')], { configDir: project });
  expect(checked).toEqual({
    findings: [],
    compiler: expect.objectContaining({
      name: expect.stringMatching(/^TypeScript \d+\.\d+\.\d+ of the configuration's project$/) as string,
      isOwn: false,
    }) as object,
  });
});

test('an error stands at its line and column, in an imported file too, with TypeScript’s own number', async () => {
  fixture.write({
    'bad.ts': `import { defineTransform } from 'sluice';
import { twice } from './twice.ts';
export default defineTransform<{ n: string }>(({ payload }) => ({
  message: twice(payload.n),
  deliver: 'yes',
}));
export const timer = () => setTimeuot(() => setTimeout(() => 1, 1), 1);`,
    'twice.ts': 'export const twice = (n: number): string => n;',
  });
  const { findings: found } = await typecheckTransforms(fixture.dir, [refTo('bad.ts')], {
    configDir: project,
    cwd: fixture.dir,
  });
  expect(found.map(({ code }) => code)).toEqual(found.map(() => 'TRANSFORM_TYPES'));
  const places = found.map(
    ({ at, message }) =>
      `${at === undefined ? '' : formatPlace(at)} ${/TS\d+/.exec(said(message))?.[0] ?? ''}`,
  );
  expect(places.toSorted()).toEqual([
    'bad.ts:4:18 TS2345',
    'bad.ts:5:3 TS2322',
    'bad.ts:7:28 TS2304',
    'twice.ts:1:45 TS2322',
  ]);
});

test.each([
  ['no rules of the author', undefined, []],
  ['rules of the author', { compilerOptions: { strict: true } }, ['TS7031', 'TS7006']],
])('code without types, %s', async (_name, rules, found) => {
  fixture.write({
    'plain.ts': `import { trim } from './own.js';
export default ({ payload }) => ({ message: trim(payload.title) + other(1) });
const other = (count) => String(count);`,
    'own.js': 'export const trim = (text) => text.trim();',
    ...(rules === undefined ? {} : { 'tsconfig.json': JSON.stringify(rules) }),
  });
  const { findings } = await typecheckTransforms(fixture.dir, [refTo('plain.ts')], {
    configDir: project,
    cwd: fixture.dir,
  });
  expect(findings.map(({ message }) => /TS\d+/.exec(said(message))?.[0])).toEqual(found);
});

test('an error keeps its whole cause', async () => {
  fixture.write({
    'deep.ts': `import { defineTransform } from 'sluice';
export default defineTransform(() => ({ kind: 'agent' as const, deliver: { really: 'yes' } }));`,
  });
  const { findings } = await typecheckTransforms(fixture.dir, [refTo('deep.ts')], {
    configDir: project,
    cwd: fixture.dir,
  });
  expect(findings.map(({ message }) => said(message))).toEqual([
    expect.stringMatching(/^type '.*' is not assignable to type .*: .*'deliver'.*: .*\(TS2322\)$/s),
  ]);
});

/** A folder that holds a compiler which says so when it runs. */
function plantCompiler(folder: string): void {
  const home = path.join(folder, 'node_modules', 'typescript');
  mkdirSync(home, { recursive: true });
  const manifest = { version: '9.9.9', bin: { tsc: './tsc.js' } };
  writeFileSync(path.join(home, 'package.json'), JSON.stringify(manifest));
  writeFileSync(
    path.join(home, 'tsc.js'),
    "console.log('typed.ts(1,1): error TS9999: the planted compiler ran')",
  );
}

describe('which compiler runs', () => {
  const refs = [refTo('plain.js'), refTo('typed.ts')];
  let top: string;

  beforeEach(() => {
    fixture.write({ 'plain.js': 'export default () => null;', 'typed.ts': 'export default () => null;' });
    top = mkdtempSync(path.join(fixture.dir, 'top-'));
    mkdirSync(path.join(top, 'project', 'config'), { recursive: true });
  });

  const check = async (configDir: string, sluiceDir = path.join(top, 'node_modules', 'sluice')) => {
    const { findings, compiler } = await typecheckTransforms(fixture.dir, refs, { configDir, sluiceDir });
    return {
      codes: findings.map(({ code, severity }) => `${severity} ${code}`),
      compiler: compiler?.name,
    };
  };
  const notChecked = { codes: ['warning TRANSFORM_TYPES_NOT_CHECKED'], compiler: undefined };
  const ran = (owner: string) => ({
    codes: ['error TRANSFORM_TYPES'],
    compiler: `TypeScript 9.9.9 of ${owner}`,
  });

  test('with none there is one warning, and none for JavaScript', async () => {
    expect(await check(path.join(top, 'project', 'config'))).toEqual(notChecked);
    const search = { configDir: top, sluiceDir: path.join(top, 'node_modules') };
    expect(await typecheckTransforms(fixture.dir, [refTo('plain.js')], search)).toEqual({ findings: [] });
  });

  test('that of the folder of the nearest package.json', async () => {
    writeFileSync(path.join(top, 'project', 'package.json'), '{}');
    plantCompiler(path.join(top, 'project'));
    expect(await check(path.join(top, 'project', 'config'))).toEqual(ran("the configuration's project"));
  });

  test('that of the root of a repository with several packages', async () => {
    writeFileSync(path.join(top, 'package.json'), '{}');
    mkdirSync(path.join(top, '.git'));
    plantCompiler(top);
    writeFileSync(path.join(top, 'project', 'package.json'), '{}');
    expect(await check(path.join(top, 'project', 'config'))).toEqual(ran("the configuration's project"));
  });

  test('none that merely lies above the project', async () => {
    plantCompiler(top);
    expect(await check(path.join(top, 'project', 'config'))).toEqual(notChecked);
    writeFileSync(path.join(top, 'package.json'), '{}');
    writeFileSync(path.join(top, 'project', 'package.json'), '{}');
    expect(await check(path.join(top, 'project', 'config'))).toEqual(notChecked);
  });

  test.skipIf(process.platform === 'win32')('none of a folder that everybody may write to', async () => {
    writeFileSync(path.join(top, 'package.json'), '{}');
    plantCompiler(top);
    chmodSync(top, 0o777);
    expect(await check(path.join(top, 'project', 'config'))).toEqual(notChecked);
  });

  test("Sluice's own where it runs from a checkout, not where it is installed", async () => {
    const checkout = path.join(top, 'sluice');
    plantCompiler(checkout);
    expect(await check(path.join(top, 'project'), checkout)).toEqual(ran("Sluice's checkout"));
    const installed = path.join(top, 'node_modules', 'sluice');
    plantCompiler(installed);
    expect(await check(path.join(top, 'project'), installed)).toEqual(notChecked);
  });
});

test("the author's own tsconfig adds its rules", async () => {
  fixture.write({
    'strict/tsconfig.json': '{"compilerOptions": {"noUnusedLocals": true, "strict": true}}',
    'strict/a.ts': 'const unused = 1;\nexport default () => null;',
  });
  const { findings: found } = await typecheckTransforms(path.join(fixture.dir, 'strict'), [refTo('a.ts')], {
    configDir: project,
  });
  expect(found.map(({ message }) => said(message))).toEqual([expect.stringContaining('TS6133')]);
});

test('defineTransform is the identity outside the sandbox', () => {
  const transform = (): null => null;
  expect(defineTransform(transform)).toBe(transform);
});
