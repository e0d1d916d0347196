/** The package as a user gets it: packed, installed from the registry into an empty folder, used. */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { globSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, expect, test } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../../..');
const MAX_MEGABYTES = 60;
const MAX_SECONDS = 10;

const folder = mkdtempSync(join(tmpdir(), 'sluice-package-'));
const REQUEST = join(folder, 'node_modules/sluice/test/golden/github/push.request.yaml');
const BIN = join(folder, 'node_modules/sluice/dist/main.js');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test(
  'installs quickly, weighs little, and says which optional package is missing',
  { timeout: 180_000 },
  () => {
    execFileSync(process.execPath, ['build/build.mjs'], { cwd: ROOT });
    const packed = execFileSync('npm', ['pack', '--ignore-scripts', '--pack-destination', folder], {
      cwd: ROOT,
      encoding: 'utf8',
    });
    writeFileSync(join(folder, 'package.json'), '{"private":true}');
    const startedAt = performance.now();
    execFileSync('npm', ['install', join(folder, packed.trim().split('\n').at(-1) ?? '')], { cwd: folder });
    expect((performance.now() - startedAt) / 1000).toBeLessThan(MAX_SECONDS);
    // By inode: esbuild links its program a second time.
    const files = globSync('node_modules/**/*', { cwd: folder }).map((name) => statSync(join(folder, name)));
    const sizes = new Map(files.filter((file) => file.isFile()).map(({ ino, size }) => [ino, size]));
    const bytes = [...sizes.values()].reduce((sum, size) => sum + size, 0);
    expect(bytes / 1e6).toBeLessThan(MAX_MEGABYTES);

    writeFileSync(
      join(folder, 'sluice.yaml'),
      'hooks: { enabled: true, token: "0123456789abcdef0123456789abcdef" }\n' +
        'channels: { email: { host: smtp.example.org, from: me@example.org } }\n',
    );
    const check = (): { readonly status: number | null; readonly output: string } => {
      const { status, stdout, stderr } = spawnSync(process.execPath, [BIN, 'check'], {
        cwd: folder,
        encoding: 'utf8',
      });
      return { status, output: stdout + stderr };
    };
    const missing = check();
    // Who only judges requests needs none; serve refuses.
    expect(missing.status).toBe(0);
    expect(missing.output).toContain('channel email needs the package nodemailer: npm install nodemailer@10');
    execFileSync('npm', ['install', 'nodemailer@10'], { cwd: folder });
    expect(check()).toMatchObject({ status: 0 });
  },
);

/** Writes the URL of every module to the file `loaded`, on SIGTERM. */
const NOTE_MODULES = `
import { registerHooks } from 'node:module';
import { writeFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';
const urls = [];
if (isMainThread) {
  registerHooks({ load: (url, context, next) => (urls.push(url), next(url, context)) });
  process.once('SIGTERM', () => writeFileSync('loaded', urls.join('\\n')));
}`;

test('finds everything by its place, and starts from few files', { timeout: 60_000 }, async () => {
  const run = (...args: string[]): string =>
    execFileSync(process.execPath, [BIN, ...args], { cwd: folder, encoding: 'utf8', stdio: 'pipe' });
  // The demo adds a packaged mapping, and starts what needs no other package: services, an agent and a worker.
  expect(run('demo')).toContain('3 asked for again, 3 came');
  writeFileSync(join(folder, 'note.mjs'), NOTE_MODULES);
  writeFileSync(join(folder, 'made.mjs'), 'export default () => ({ text: "made by a transform" });\n');
  expect(run('transform', 'run', 'made.mjs', '--request', REQUEST)).toContain('made by a transform');
  writeFileSync(
    join(folder, 'sluice.yaml'),
    `hooks: { enabled: true, token: "${'0123456789abcdef'.repeat(2)}" }\n`,
  );
  const argv = ['--import', './note.mjs', BIN, 'serve', '--port', '0'];
  const service = spawn(process.execPath, argv, { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] });
  for await (const line of service.stderr) if (String(line).includes('"ready"')) service.kill();
  if (service.exitCode === null) await once(service, 'exit');
  run('storage', 'verify');
  const loaded = readFileSync(join(folder, 'loaded'), 'utf8').split('\n');
  expect(loaded.filter((url) => url.startsWith('file:')).length).toBeLessThan(65);
  const packages = loaded.flatMap((url) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1] ?? []);
  expect([...new Set(packages)]).toEqual(['sluice']);
});
