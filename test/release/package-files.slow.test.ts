/** What `npm pack` puts into the package, as npm itself lists it. */
import { execFileSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { fileOf, shippedSenders } from '../../src/engine/senders/senders.ts';

const ROOT = resolve(import.meta.dirname, '../..');

test('of the tests, the package carries the golden cases that commands use, and nothing else', () => {
  // Every installation of the checkout builds; a second build beside it would take away what other tests read.
  if (!existsSync(resolve(ROOT, 'test/golden/.npmignore')))
    execFileSync(process.execPath, ['build.mjs'], { cwd: ROOT });
  const listed = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  const [{ files }] = JSON.parse(listed) as [{ readonly files: readonly { readonly path: string }[] }];
  const carried = files.map(({ path }) => path).filter((path) => path.startsWith('test/'));
  const named = shippedSenders().flatMap((sender) =>
    (sender.examples ?? []).flatMap((each) =>
      'file' in each ? [relative(ROOT, fileOf(sender, each.file))] : [],
    ),
  );
  expect(named.length).toBeGreaterThan(10);
  expect(carried).toEqual(expect.arrayContaining([...named, 'test/golden/github/payloads/push.json']));
  expect(carried.filter((path) => path.endsWith('.request.yaml')).toSorted()).toEqual(
    [...new Set([...named, ...DEMO])].toSorted(),
  );
  expect(carried.filter((path) => !/\.request\.yaml$|\/payloads\//.test(path))).toEqual([]);
}, 90_000);

test('what npm prepares again is not built again where nothing has changed', () => {
  const prepare = () =>
    execFileSync(process.execPath, ['build.mjs', '--if-changed'], { cwd: ROOT, stdio: 'pipe' });
  const built = () => statSync(resolve(ROOT, 'dist/main.js')).ino;
  if (!existsSync(resolve(ROOT, 'dist/main.js'))) prepare();
  // A source that a test beside this one has changed since is built; the second time nothing is.
  prepare();
  const before = built();
  prepare();
  expect(built()).toBe(before);
}, 90_000);

const DEMO = ['github/push', 'alertmanager/firing', 'mail/batch'].map(
  (name) => `test/golden/${name}.request.yaml`,
);
