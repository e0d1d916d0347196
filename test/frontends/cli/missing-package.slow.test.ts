import { cpSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { openStorage } from '../../../src/engine/storage/storage.ts';
import { builtMain } from '../../support/built-program.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const ROOT = resolve(import.meta.dirname, '../../..');

/** This program as it is installed where one optional package is not: links to all that is there, without that one. */
function installWithout(name: string): string {
  const folder = temporaryFolder();
  for (const entry of ['package.json', 'build', 'schemas', 'mappings']) {
    symlinkSync(join(ROOT, entry), join(folder, entry));
  }
  cpSync(dirname(builtMain()), join(folder, 'dist'), { recursive: true });
  mkdirSync(join(folder, 'node_modules'));
  for (const entry of readdirSync(join(ROOT, 'node_modules'))) {
    if (entry !== name) symlinkSync(join(ROOT, 'node_modules', entry), join(folder, 'node_modules', entry));
  }
  return folder;
}

async function run(folder: string, args: readonly string[]): Promise<readonly [number, string]> {
  const child = spawn(process.execPath, [join(folder, 'dist/main.js'), ...args], {
    cwd: folder,
    // The copy has a place of its own, for which compiled code would be kept that nobody reads again.
    env: { ...process.env, NODE_DISABLE_COMPILE_CACHE: '1' },
    timeout: 60_000,
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number];
  return [code, output];
}

test('where the client of PostgreSQL is not installed, check, serve and the commands of the store say how to', async () => {
  const folder = installWithout('pg');
  writeFileSync(
    join(folder, 'sluice.yaml'),
    `hooks: {enabled: true, token: 0123456789abcdef0123456789abcdef}
gateway: {runner: {kind: echo}}
storage: {url: "postgres://sluice@127.0.0.1:9/sluice"}
`,
  );
  const store = join(folder, 'store.db');
  await (await openStorage(`sqlite:${store}`)).close();
  const commands = [
    ['check'],
    ['serve', '--port', '0'],
    ['storage', 'status'],
    ['storage', 'copy', `sqlite:${store}`, 'postgres://sluice@127.0.0.1:9/sluice'],
  ];
  const answers = await Promise.all(commands.map((args) => run(folder, args)));
  for (const [, output] of answers) {
    expect(output).toMatch(/a store in PostgreSQL needs the package pg[:;].* npm install pg@8/);
    expect(output).not.toContain('    at ');
  }
  // In the configuration it is a finding; where the other store is named on the command line, something is missing.
  expect(answers.map(([code]) => code)).toEqual([1, 1, 1, 3]);
  expect(answers[0]?.[1]).toContain('sluice.yaml:3:16');
});

test('where the package of the Model Context Protocol is not installed, sluice mcp says how to', async () => {
  const folder = installWithout('@modelcontextprotocol');
  writeFileSync(join(folder, 'sluice.yaml'), 'hooks: {enabled: true}\n');
  expect(await run(folder, ['mcp'])).toEqual([
    3,
    'sluice: sluice mcp needs the package @modelcontextprotocol/sdk: npm install @modelcontextprotocol/sdk@1\n',
  ]);
});
