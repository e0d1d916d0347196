/** What `npm pack` puts into the package, as npm itself lists it. */
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { fileOf, shippedSenders } from '../../src/engine/senders/senders.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const ROOT = resolve(import.meta.dirname, '../..');

test('of the tests, the package carries the golden cases that commands use, and nothing else', () => {
  // Every installation of the checkout builds; a second build beside it would take away what other tests read.
  if (!existsSync(resolve(ROOT, 'test/golden/.npmignore')))
    execFileSync(process.execPath, ['build/build.mjs'], { cwd: ROOT });
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
    [...new Set(named)].toSorted(),
  );
  expect(carried.filter((path) => !/\.request\.yaml$|\/payloads\//.test(path))).toEqual([]);
});

test('what npm prepares again is not built again where nothing has changed', () => {
  const prepare = () =>
    execFileSync(process.execPath, ['build/build.mjs', '--if-changed'], { cwd: ROOT, stdio: 'pipe' });
  const built = () => statSync(resolve(ROOT, 'dist/main.js')).ino;
  if (!existsSync(resolve(ROOT, 'dist/main.js'))) prepare();
  // A source that a test beside this one has changed since is built; the second time nothing is.
  prepare();
  const before = built();
  prepare();
  expect(built()).toBe(before);
});

test('the program has in it what it loads late, and finds no other package than its dependencies', () => {
  const run = programAlone({
    'sluice.yaml':
      'hooks: {enabled: true, token: "0123456789abcdef0123456789abcdef", mappingsDir: mappings}\n',
    'mappings/all.json':
      '[{"match": {"path": "in"}, "bodyFormat": "xml", "action": "wake", "textTemplate": "{{order.id}}"}]\n',
    'xml.yaml': 'path: in\nheaders: {content-type: application/xml}\nbody: <order><id>A1</id></order>\n',
    'wrong.yaml': 'hooks: {enabled: true, maxBodyByte: 1}\n',
  });
  expect(run('check')).toContain('no findings');
  expect(run('explain', 'xml.yaml')).toContain('A1');
  expect(run('check', '-c', 'wrong.yaml')).toContain('> 1 | hooks: {enabled: true, maxBodyByte: 1}');
});

/** Runs the built program where no package can be found but those that are installed with it. */
function programAlone(files: Readonly<Record<string, string>>): (...args: string[]) => string {
  execFileSync(process.execPath, ['build/build.mjs', '--if-changed'], { cwd: ROOT, stdio: 'pipe' });
  const folder = temporaryFolder();
  for (const name of ['dist', 'package.json', 'build'])
    cpSync(join(ROOT, name), join(folder, name), { recursive: true });
  const { dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    readonly dependencies: object;
  };
  for (const name of Object.keys(dependencies)) {
    const place = join('node_modules', name);
    mkdirSync(dirname(join(folder, place)), { recursive: true });
    symlinkSync(join(ROOT, place), join(folder, place));
  }
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return (...args) => {
    const main = join(folder, 'dist/main.js');
    const { stdout, stderr } = spawnSync(process.execPath, [main, ...args], {
      cwd: folder,
      // The copy has a place of its own, for which compiled code would be kept that nobody reads again.
      env: { ...process.env, NODE_DISABLE_COMPILE_CACHE: '1' },
      encoding: 'utf8',
    });
    return stdout + stderr;
  };
}
