import { chmodSync, existsSync, mkdirSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test, vi } from 'vitest';
import {
  openWorkFolder,
  removeOldWorkFolders,
  removeWorkFolder,
  workRootProblem,
} from '../../../src/service/runners/work-folder.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

let home: string;
beforeEach(() => {
  home = temporaryFolder();
});

test('a conversation has the same private folder every time', async () => {
  const root = join(home, 'state/sluice/work/x/claude');
  const folder = await openWorkFolder(root, 'session-1');
  writeFileSync(join(folder, 'notes'), 'kept');
  expect(await openWorkFolder(root, 'session-1')).toBe(folder);
  expect(existsSync(join(folder, 'notes'))).toBe(true);
  expect([statSync(root).mode & 0o777, statSync(folder).mode & 0o777]).toEqual([0o700, 0o700]);
});

test('a link in its place is refused, as is a folder that others may enter', async () => {
  const root = join(home, 'work');
  mkdirSync(root, { mode: 0o700 });
  mkdirSync(join(home, 'elsewhere'));
  symlinkSync(join(home, 'elsewhere'), join(root, 'linked'));
  const isOfOne = { isOfOne: true };
  await expect(openWorkFolder(root, 'linked')).rejects.toThrow(/linked is a link or a file/);
  await expect(openWorkFolder(root, 'linked')).rejects.toMatchObject(isOfOne);
  mkdirSync(join(root, 'open'));
  chmodSync(join(root, 'open'), 0o755);
  await expect(openWorkFolder(root, 'open')).rejects.toThrow(/belong to the service's user alone: chmod 700/);
  symlinkSync(root, join(home, 'linked-root'));
  await expect(openWorkFolder(join(home, 'linked-root'), 's')).rejects.toThrow(/is a link/);
  await expect(openWorkFolder(join(home, 'linked-root'), 's')).rejects.not.toMatchObject(isOfOne);
  mkdirSync(join(root, 'cloned', '.git'), { recursive: true, mode: 0o700 });
  await expect(openWorkFolder(root, 'cloned')).rejects.toMatchObject(isOfOne);
});

test('a git repository around it is refused', async () => {
  mkdirSync(join(home, '.git'));
  const root = join(home, 'work');
  await expect(openWorkFolder(root, 's')).rejects.toThrow(
    /lies in the git repository .*: set XDG_STATE_HOME/,
  );
  expect(workRootProblem(root, '/etc/sluice')).toMatch(/lies in the git repository/);
});

test('a place in the folder of the configuration is a problem, one beside it is none', () => {
  expect(workRootProblem(join(home, 'conf/state'), join(home, 'conf'))).toMatch(/set XDG_STATE_HOME/);
  expect(workRootProblem(join(home, 'config'), join(home, 'conf'))).toBeUndefined();
  // The usual place of state is below the home folder, and so below a configuration in it.
  vi.stubEnv('HOME', home);
  expect(workRootProblem(join(home, '.local/state/sluice/work'), home)).toBeUndefined();
  vi.unstubAllEnvs();
});

test('old folders are removed, links in them are not followed', async () => {
  const root = join(home, 'work');
  const old = await openWorkFolder(root, 'old');
  const recent = await openWorkFolder(root, 'recent');
  writeFileSync(join(home, 'precious'), 'x');
  symlinkSync(home, join(old, 'way-out'));
  utimesSync(old, 1_000, 1_000);
  expect(await removeOldWorkFolders(root, Date.now() - 60_000)).toEqual([old]);
  expect([existsSync(old), existsSync(recent), existsSync(join(home, 'precious'))]).toEqual([
    false,
    true,
    true,
  ]);
  symlinkSync(home, join(recent, 'way-out'));
  await removeWorkFolder(root, 'recent');
  expect([existsSync(recent), existsSync(join(home, 'precious'))]).toEqual([false, true]);
});
