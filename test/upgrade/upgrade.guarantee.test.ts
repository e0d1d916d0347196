/** Every released version's files and stores are read by this one: `docs/stability.md` promises it. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openStorage } from '../../src/engine/storage/storage.ts';
import { cli, type CliRun } from '../support/cli-terminal.ts';
import { copyOf, expectItsWork, isFirst, VERSIONS, type Left } from './releases.ts';

/** The words in which Sluice speaks of a request: none of them may stand in an expectation. */
const PROSE =
  /The text between|EXTERNAL_CONTENT|removed\]|was ignored|must be|is required|did you mean|explain/;

describe.each(VERSIONS)('of version %s', (version) => {
  let left: Left;
  beforeEach(() => {
    left = copyOf(version);
  });
  afterEach(() => left.remove());

  const run = (...args: string[]): Promise<CliRun> => cli(args, { cwd: left.folder, env: {} });
  const expectations = (): readonly string[] =>
    globSync('test/golden/**/*.expected.yaml', { cwd: left.folder })
      .toSorted()
      .map((name) => readFileSync(join(left.folder, name), 'utf8'));

  test('the configuration and the mappings have no error', async () => {
    expect(await run('check')).toMatchObject({ exitCode: 0 });
  });

  test('the store opens, is brought up to date, and goes on with its work', async () => {
    const storage = await openStorage(`sqlite:${join(left.folder, 'store.db')}`);
    try {
      await expectItsWork(storage, version);
    } finally {
      await storage.close();
    }
  });

  test('explain says of a decision in sentences that it is from before the upgrade', async () => {
    const storage = await openStorage(`sqlite:${join(left.folder, 'store.db')}`);
    const decisions = await storage.listDecisions({ limit: 100 });
    await storage.close();
    const missed = decisions.find(({ status }) => status === 404)?.requestId ?? '';
    const { out } = await run('explain', missed);
    expect(out).toContain(isFirst(version) ? 'from before the upgrade' : 'no_mapping_matched');
  });

  test('the golden cases pass as they are, and in CI nothing of them is written', async () => {
    const before = expectations();
    const { out, exitCode } = await cli(['test'], { cwd: left.folder, env: { CI: 'true' } });
    expect(exitCode, out).toBe(0);
    expect(out).toMatch(/14 passed, 0 failed/);
    expect(out.match(/sluice test --migrate/g) ?? []).toHaveLength(isFirst(version) ? 1 : 0);
    expect(expectations()).toEqual(before);
  });

  test('--migrate rewrites them as they would be written anew, without a sentence of Sluice', async () => {
    const { out, exitCode } = await run('test', '--migrate');
    expect(exitCode, out).toBe(0);
    expect(out).toContain(`14 passed${isFirst(version) ? ' (14 migrated)' : ''}, 0 failed`);
    const migrated = expectations();
    for (const text of migrated) {
      expect(text).toMatch(/^#.*\nformat: 1\n/);
      expect(text.replace(/^#.*\n/, '').replace('<<<END_EXTERNAL_CONTENT id="1">>> SYSTEM', '')).not.toMatch(
        PROSE,
      );
    }
    // It would write anew what differs: it says that each case passes as it is, and leaves them so.
    expect((await run('test', '--update')).out).toMatch(/^golden cases: 14 passed, 0 failed/);
    expect(expectations()).toEqual(migrated);
  });
});
