/**
 * The commands of docs/tutorial.md, run as they stand there. GitHub and the tunnel are stand-ins: the interface of GitHub
 * is a local server, the tunnel prints what tailscale prints, and what GitHub would send is signed with the secret that
 * the tutorial made.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { findCommentMark } from '../../../src/base/marks.ts';
import { githubHeaders } from '../../../src/frontends/cli/running/demo-github.ts';
import { builtMain } from '../../support/built-program.ts';
import { START_ENV, waitFor } from '../../support/cli-service.ts';
import { startPlatform } from '../../support/platform-server.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const page = readFileSync(join(root, 'docs/tutorial.md'), 'utf8');
const commands = [...page.matchAll(/^```sh\n([^]*?)\n```/gm)].flatMap(([, block = '']) => block.split('\n'));

const STAND_INS = {
  npx: `shift; exec "${process.execPath}" "${builtMain()}" "$@"`,
  // An agent that proves what it may do: it notes its arguments, and replies.
  claude: `echo "$*" >> "$HOME/notes/claude"; cat > "$HOME/notes/prompt"
echo '{"type":"result","is_error":false,"result":"This updates the README. @octocat may look at line 3 first."}'`,
  tailscale: `echo "http://127.0.0.1:\${2}" > "$NOTES/tunnel"
printf 'Available on the internet:\\n\\nhttps://amelie-workstation.pango-lin.ts.net/\\n|-- proxy http://127.0.0.1:%s\\n' "$2"
exec sleep 120`,
} as const;

test('the tutorial has three commands before the pull request', () => {
  expect(commands.slice(0, 3).map((command) => command.split(' ').slice(0, 3).join(' '))).toEqual([
    'npx sluice init',
    'npx sluice add',
    'npx sluice dev',
  ]);
});

test('a signed delivery becomes a comment, as the tutorial says', async () => {
  const home = temporaryFolder();
  const [bin, notes, checkout] = ['bin', 'notes', 'checkout'].map((name) => join(home, name)) as [
    string,
    string,
    string,
  ];
  for (const made of [bin, notes, checkout]) mkdirSync(made);
  // Who follows the page in the checkout has a configuration there already.
  writeFileSync(join(checkout, 'sluice.yaml'), 'gateway: {runner: echo}\n');
  let folder = checkout;
  for (const [name, script] of Object.entries(STAND_INS)) {
    writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(bin, name), 0o755);
  }
  const env = { ...START_ENV, PATH: `${bin}:/usr/bin:/bin`, HOME: home, NOTES: notes, LANG: 'C.UTF-8' };
  const shell = (command: string): string => {
    const { status, stdout, stderr } = spawnSync('sh', ['-c', command], {
      cwd: folder,
      env,
      encoding: 'utf8',
    });
    expect([command, status, stderr]).toEqual([command, 0, expect.any(String)]);
    return stdout + stderr;
  };
  const note = (name: string): string => readFileSync(join(notes, name), 'utf8');
  const hooks: { readonly id: number; readonly config: Readonly<Record<string, string>> }[] = [];
  const github = await startPlatform(({ method, path, body }) => {
    if (path.startsWith('/repos/Codertocat/Hello-World/hooks')) {
      if (method === 'POST') hooks.push({ id: 1, config: body?.['config'] as Record<string, string> });
      if (method === 'DELETE') hooks.length = 0;
      return { status: 200, body: path.includes('/deliveries') ? [] : hooks };
    }
    if (path === '/repos/Codertocat/Hello-World/collaborators/Codertocat/permission')
      return { status: 200, body: { permission: 'write', role_name: 'write' } };
    return path === '/repos/Codertocat/Hello-World/issues/2/comments'
      ? { status: 201, body: { id: 1, body: body?.['body'] } }
      : { status: 404, body: { message: 'Not Found' } };
  });
  onTestFinished(github.stop);

  const [init = '', add = '', dev = '', ...rest] = commands;
  folder = /^\/.+/m.exec(shell(`${init} && pwd`))?.[0] ?? '';
  writeFileSync(join(folder, 'token'), 'github_pat_of_the_tutorial\n');
  expect(shell(add)).toContain('Set up GitHub:');
  // The one thing that is not as a reader has it: comments go to the stand-in of GitHub.
  const config = join(folder, 'sluice.yaml');
  const written = readFileSync(config, 'utf8');
  writeFileSync(config, written.replace(/^( *)github:\n/m, `$&$1  baseUrl: ${github.url}\n`));

  const here = dev.replace('OWNER/REPO', 'Codertocat/Hello-World');
  const more = `--port 0 --yes --api ${github.url}`;
  const service: ChildProcess = spawn('sh', ['-c', `exec ${here} ${more}`], { cwd: folder, env });
  onTestFinished(() => void service.kill('SIGKILL'));
  let said = '';
  service.stderr?.on('data', (chunk) => (said += String(chunk)));
  const url = await waitFor(
    () => /Payload URL: (https:\S+\/hooks\/github) +\(proof: github\)/.exec(said)?.[1],
  );
  expect(page).toContain(url);

  const secret = readFileSync(join(folder, '.sluice/secrets/github'), 'utf8').trim();
  await waitFor(() => (said.includes('has the webhook') ? true : undefined));
  expect(hooks).toMatchObject([{ config: { url, secret } }]);

  /** What GitHub would send to the payload URL, at the end of the tunnel. */
  const deliver = async (event: string, file: string): Promise<number> => {
    const body = readFileSync(join(root, 'test/golden/github/payloads', file), 'utf8');
    const headers = githubHeaders(`${event}-1`, event, body, secret);
    const { status } = await fetch(`${note('tunnel').trim()}/hooks/github`, {
      method: 'POST',
      headers,
      body,
    });
    return status;
  };
  expect(await deliver('ping', 'ping.json')).toBe(204);
  expect(await deliver('pull_request', 'pull-request-opened.json')).toBe(202);
  const comment = await waitFor(() => github.requests.find(({ path }) => path.endsWith('/comments')));
  const text = String(comment.body?.['body']);
  expect(text).toContain('This updates the README. @\u200boctocat may look at line 3 first.');
  expect(findCommentMark(text, ['github_pat_of_the_tutorial'])).toMatch(/^[\da-f-]{36}$/);
  expect(comment.headers['authorization']).toBe('Bearer github_pat_of_the_tutorial');
  expect(note('claude')).toContain('--tools Read,Glob,Grep');
  expect(note('prompt')).toContain('<<<EXTERNAL_CONTENT');

  const port = new URL(/on (http:\S+)\/hooks/.exec(said)?.[1] ?? '').origin;
  for (const command of rest) {
    const asked = command.includes(' send ') ? `${command} --against ${port}` : command;
    expect([command, shell(asked)]).toEqual([command, expect.stringMatching(/"runId"|github/)]);
  }
  const ended = new Promise((resolve) => service.once('close', resolve));
  service.kill('SIGTERM');
  await ended;
  expect(hooks).toEqual([]);
});
