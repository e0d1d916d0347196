/** The package as a user gets it: packed, installed from the registry into an empty folder, used. */
import { execFileSync, spawnSync } from 'node:child_process';
import { globSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, expect, test } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../..');
const MAX_MEGABYTES = 65;
const MAX_SECONDS = 10;

const folder = mkdtempSync(join(tmpdir(), 'sluice-package-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test(
  'installs quickly, weighs little, and says which optional package is missing',
  { timeout: 180_000 },
  () => {
    execFileSync(process.execPath, ['build.mjs'], { cwd: ROOT });
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
        'channels: { telegram: { botToken: "123:abc" } }\n',
    );
    const bin = join(folder, 'node_modules/sluice/dist/main.js');
    const check = (): { readonly status: number | null; readonly output: string } => {
      const { status, stdout, stderr } = spawnSync(process.execPath, [bin, 'check'], {
        cwd: folder,
        encoding: 'utf8',
      });
      return { status, output: stdout + stderr };
    };
    const missing = check();
    expect(missing.status).toBe(1);
    expect(missing.output).toContain('channel telegram needs the package grammy: npm install grammy@1');
    execFileSync('npm', ['install', 'grammy@1'], { cwd: folder });
    expect(check()).toMatchObject({ status: 0 });
  },
);
