/** `sluice runners check` proves that an agent with `access: read` is refused a write, or says that it could not. */
import { chmodSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { cli, type CliRun } from '../../support/cli-terminal.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/** A stand-in for claude that writes the file it is asked for where `WRITES` holds, and says DONE in any case. */
const CLAUDE = (writes: string): string => `#!/bin/sh
args="$*"; prompt=$(cat); file=$(echo "$prompt" | sed -n 's/^Create the file \\([^ ]*\\) .*/\\1/p')
if [ -n "$file" ] && ${writes}; then echo PROOF > "$file"; fi
echo '{"type":"result","is_error":false,"result":"DONE"}'
`;
const MAY_EDIT = 'case "$args" in *acceptEdits*) true;; *) false;; esac';

async function check(writes: string, yaml = ''): Promise<CliRun & { readonly home: string }> {
  const home = temporaryFolder();
  mkdirSync(join(home, 'bin'));
  mkdirSync(join(home, 'config'));
  writeFileSync(join(home, 'bin/claude'), CLAUDE(writes));
  chmodSync(join(home, 'bin/claude'), 0o755);
  const cwd = join(home, 'config');
  writeFileSync(
    join(cwd, 'sluice.yaml'),
    `hooks: {enabled: true}\ngateway:\n  runner: {kind: claude${yaml}}\n`,
  );
  const env = { HOME: home, PATH: `${join(home, 'bin')}:${process.env['PATH'] ?? ''}` };
  return { ...(await cli(['runners', 'check', '--timeout', '20'], { cwd, env })), home };
}

test('a write that is refused is proved by one that is not', async () => {
  const { out, exitCode, home } = await check(MAY_EDIT);
  expect(out).toMatch(/claude +ok .* refused \(tried\)/);
  expect(exitCode).toBe(0);
  const left = readdirSync(join(home, '.local/state/sluice'), { recursive: true, encoding: 'utf8' });
  expect(left.filter((name) => name.includes('proof'))).toEqual([]);
});

test('an agent that writes although it may only read fails the check', async () => {
  const { out, exitCode } = await check('true');
  expect(out).toContain('NOT REFUSED: it wrote a file');
  expect(exitCode).toBe(1);
});

test('an agent that never writes proves nothing, and one that may write is said to', async () => {
  const never = await check('false');
  expect(never.out).toContain('not proved: asked to write a file, it wrote none even where it may');
  expect(never.exitCode).toBe(0);
  const edits = await check(MAY_EDIT, ', access: edit');
  expect(edits.out).toContain('allowed (access: edit)');
});
