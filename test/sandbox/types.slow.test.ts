import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { formatPlace } from '../../src/document/document.ts';
import { defineTransform, runTransformUnsandboxed, typecheckTransforms } from '../../src/sandbox/sandbox.ts';
import { refTo, SandboxFixture } from '../support/sandbox-fixture.ts';

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
  expect(await typecheckTransforms(fixture.dir, [refTo('good.ts')], { configDir: project })).toEqual([]);
});

test('an error stands at its line and column, in an imported file too, with TypeScript’s own number', async () => {
  fixture.write({
    'bad.ts': `import { defineTransform } from 'sluice';
import { twice } from './twice.ts';
export default defineTransform<{ n: string }>(({ payload }) => ({
  message: twice(payload.n),
  deliver: 'yes',
}));
export const timer = () => setTimeout(() => 1, 1);`,
    'twice.ts': 'export const twice = (n: number): string => n;',
  });
  const found = await typecheckTransforms(fixture.dir, [refTo('bad.ts')], {
    configDir: project,
    cwd: fixture.dir,
  });
  expect(found.map(({ code }) => code)).toEqual(found.map(() => 'TRANSFORM_TYPES'));
  const places = found.map(
    ({ at, message }) => `${at === undefined ? '' : formatPlace(at)} ${/TS\d+/.exec(message)?.[0] ?? ''}`,
  );
  expect(places.toSorted()).toEqual([
    'bad.ts:4:18 TS2345',
    'bad.ts:5:3 TS2322',
    'bad.ts:7:28 TS2304',
    'twice.ts:1:45 TS2322',
  ]);
});

test('without TypeScript beside the configuration there is one warning, and none for JavaScript', async () => {
  fixture.write({ 'plain.js': 'export default () => null;', 'typed.ts': 'export default () => null;' });
  const lonely = path.join(fixture.dir, 'config');
  mkdirSync(lonely);
  const refs = [refTo('plain.js'), refTo('typed.ts'), refTo('good.ts')];
  const found = await typecheckTransforms(fixture.dir, refs, { configDir: lonely });
  expect(found.map(({ code, severity }) => `${severity} ${code}`)).toEqual([
    'warning TRANSFORM_TYPES_NOT_CHECKED',
  ]);
  expect(await typecheckTransforms(fixture.dir, [refTo('plain.js')], { configDir: lonely })).toEqual([]);
});

test("the author's own tsconfig adds its rules", async () => {
  fixture.write({
    'strict/tsconfig.json': '{"compilerOptions": {"noUnusedLocals": true, "strict": true}}',
    'strict/a.ts': 'const unused = 1;\nexport default () => null;',
  });
  const found = await typecheckTransforms(path.join(fixture.dir, 'strict'), [refTo('a.ts')], {
    configDir: project,
  });
  expect(found.map(({ message }) => message)).toEqual([expect.stringContaining('TS6133')]);
});

test('defineTransform is the identity outside the sandbox', () => {
  const transform = (): null => null;
  expect(defineTransform(transform)).toBe(transform);
});

test('outside the sandbox a transform waits for a debugger, and says loudly where it runs', async () => {
  fixture.write({ 'inspect.ts': 'export default (c: { payload: string }) => ({ message: c.payload });' });
  const lines: string[] = [];
  // Nobody attaches: the process waits, and does not run on its own.
  const running = runTransformUnsandboxed(
    path.join(fixture.dir, 'inspect.ts'),
    undefined,
    '{"payload":"x"}',
    {
      inspectPort: 0,
      onLine: (line) => void lines.push(line),
      signal: AbortSignal.timeout(1500),
    },
  );
  expect(lines[0]).toContain('OUTSIDE the sandbox');
  expect(await running).toEqual({ exitCode: null });
});
