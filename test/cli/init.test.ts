import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { cli } from '../support/cli-terminal.ts';
import { listIn } from '../support/output-check.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-init-'));
});

afterEach(() => rm(folder, { recursive: true, force: true }));

test('what init writes checks without errors, and its golden case becomes an agent run', async () => {
  expect(await cli(['init', 'new'], { cwd: folder })).toMatchObject({ exitCode: 0 });
  const cwd = join(folder, 'new');
  const check = await cli(['check', '-c', join(cwd, 'sluice.yaml'), '--json'], { cwd });
  const findings = listIn<{ severity: string; code: string }>(check.out);
  expect(findings.filter((finding) => finding.severity === 'error')).toEqual([]);
  expect(await cli(['test', '-c', join(cwd, 'sluice.yaml')], { cwd })).toMatchObject({ exitCode: 0 });
  const expectation = await readFile(join(cwd, 'test/golden/hello/ada.expected.yaml'), 'utf8');
  expect(expectation).toContain('mapping: hello');
  expect(expectation).toContain('Ada says: Good morning');
});

test('init overwrites nothing', async () => {
  await cli(['init'], { cwd: folder });
  expect(await cli(['init'], { cwd: folder })).toMatchObject({ exitCode: 1 });
});
