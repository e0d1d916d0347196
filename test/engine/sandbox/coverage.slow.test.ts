import { afterAll, expect, test } from 'vitest';
import { callTransform, refTo, SandboxFixture } from '../../support/sandbox-fixture.ts';

const fixture = new SandboxFixture();
afterAll(() => fixture.dispose());

const SOURCE = `import { label } from './label.ts';
enum Level { High = 'high' }
const unused = (): string => 'never';
export default ({ payload }: { payload: { level: string } }) => {
  if (payload.level === Level.High) {
    return { message: label('high') };
  }
  return payload.level === 'none' ? null : { message: label(payload.level), name: unused.name };
};
`;

test('says which functions and branches of the TypeScript never ran, and forgets none over many calls', async () => {
  fixture.write({
    'a.ts': SOURCE,
    'label.ts': 'export function label(text: string): string {\n  return text || "empty";\n}\n',
  });
  const ref = refTo('a.ts');
  const transforms = await fixture.sandbox.loadTransforms(fixture.dir, [ref], {
    cwd: fixture.dir,
    coverage: true,
  });
  expect(transforms.findings).toEqual([]);
  for (let index = 0; index < 40; index += 1) {
    expect(await callTransform(transforms, ref, { level: 'low' })).toMatchObject({ kind: 'ok' });
  }
  const [covered] = await transforms.takeCoverage();
  expect(covered?.module).toBe('a.ts');
  const places = covered?.ranges.map(({ kind, file, line, column, hits }) => [
    `${kind} ${file}:${line}:${column}`,
    hits,
  ]);
  expect(Object.fromEntries(places ?? [])).toEqual({
    'function a.ts:2:6': 40,
    'function a.ts:3:16': 0,
    'function a.ts:4:16': 40,
    'branch a.ts:5:37': 0,
    'branch a.ts:8:28': 0,
    'function label.ts:1:8': 40,
    'branch label.ts:2:10': 0,
  });
  await callTransform(transforms, ref, { level: 'high' });
  await callTransform(transforms, ref, { level: 'none' });
  const [later] = await transforms.takeCoverage();
  expect(later?.ranges.find(({ kind, line }) => kind === 'branch' && line === 5)).toMatchObject({ hits: 1 });
});

test('a module that no call reached has all its functions missed', async () => {
  fixture.write({ 'idle.ts': 'const helper = () => 1;\nexport default () => helper();' });
  const transforms = await fixture.sandbox.loadTransforms(fixture.dir, [refTo('idle.ts')], {
    coverage: true,
  });
  const [covered] = await transforms.takeCoverage();
  expect(covered?.ranges.map(({ kind, line, hits }) => [kind, line, hits])).toEqual([
    ['function', 1, 0],
    ['function', 2, 0],
  ]);
});

test('is empty where it was not asked for', async () => {
  fixture.write({ 'plain.ts': 'export default () => null;' });
  const transforms = await fixture.load([refTo('plain.ts')]);
  expect(await transforms.takeCoverage()).toEqual([]);
});
