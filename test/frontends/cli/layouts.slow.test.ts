/** Configurations that do not belong to the user who runs the service, as under /etc or in a container. */
import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { builtMain } from '../../support/built-program.ts';
import { type Bench, openBench, START_ENV, TOKEN, waitFor } from '../../support/cli-service.ts';

/** A user without rights of its own; where the tests do not run as root, files are made unreadable for ourselves. */
const NOBODY = 65534;
const isRoot = process.getuid?.() === 0;

const CONFIG = `
hooks: {enabled: true, token: "\${T}", mappingsDir: mappings}
server: {port: 0}
console: {enabled: true, port: 0}
`;
const GITHUB = `- {id: github, match: {path: github}, messageTemplate: x, deliver: false,
   verify: {scheme: github, secrets: [{file: .sluice/secrets/github}]}}
- {id: a, match: {path: a}, messageTemplate: x, deliver: false}\n`;

/** What `add` and an earlier start left there, and a folder that the service may write. */
function layout(): { readonly bench: Bench; readonly state: string } {
  const bench = openBench({
    'etc/sluice.yaml': `${CONFIG}storage: {url: "sqlite:../state/sluice.db"}\n`,
    'etc/mappings/github.yaml': GITHUB,
    'etc/.sluice/secrets/github': 'a-secret-of-github-000\n',
  });
  const [etc, state] = [join(bench.folder, 'etc'), join(bench.folder, 'state')];
  mkdirSync(state);
  if (isRoot) chownSync(state, NOBODY, NOBODY);
  chmodSync(bench.folder, 0o755);
  chmodSync(join(etc, '.sluice'), isRoot ? 0o755 : 0o555);
  chmodSync(join(etc, '.sluice/secrets'), 0o755);
  chmodSync(join(etc, '.sluice/secrets/github'), isRoot ? 0o600 : 0o000);
  return { bench, state };
}

interface Served {
  url(): Promise<string>;
  said(): string;
  readonly code: Promise<number | null>;
  stop(): void;
}

function serve({ folder }: Bench, env: NodeJS.ProcessEnv): Served {
  const child = spawn(process.execPath, [builtMain(), 'serve'], {
    cwd: join(folder, 'etc'),
    env: { ...START_ENV, T: TOKEN, HOME: '/nonexistent', ...env },
    ...(isRoot ? { uid: NOBODY, gid: NOBODY } : {}),
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (text += String(chunk)));
  const code = new Promise<number | null>((resolve) => child.on('close', resolve));
  const early = code.then(() => Promise.reject(new Error(text)));
  early.catch(() => undefined);
  const ready = () => waitFor(() => /"url":"(http:[^"]+)"[^\n]*"ready"/.exec(text)?.[1]);
  return {
    url: () => Promise.race([ready(), early]),
    said: () => text,
    code,
    stop: () => void child.kill('SIGTERM'),
  };
}

test('a configuration of another user is served with the console, and the secrets say whose they are', async () => {
  const { bench, state } = layout();
  const service = serve(bench, { XDG_STATE_HOME: state });
  const url = await service.url();
  const [, keyFile = ''] = /"keyFile":"([^"]+)"/.exec(service.said()) ?? [];
  expect(keyFile.startsWith(join(state, 'sluice/console'))).toBe(true);
  expect(statSync(keyFile).mode & 0o777).toBe(0o600);
  expect(readFileSync(keyFile, 'utf8').trim().length).toBeGreaterThan(31);
  const secret = join(bench.folder, 'etc/.sluice/secrets/github');
  const remedy = isRoot ? `chown ${NOBODY} ${secret}` : `chmod u+r ${secret}`;
  expect(service.said()).toContain(`with mode ${isRoot ? '0600' : '0000'}, and sluice runs as`);
  expect(service.said()).toContain(remedy);
  expect(service.said()).not.toContain('missing or empty');
  const post = (path: string, headers: Record<string, string>) =>
    fetch(`${url}/hooks/${path}`, { method: 'POST', headers, body: '{}' });
  expect((await post('a', { authorization: `Bearer ${TOKEN}` })).status).toBe(202);
  expect((await post('github', { 'x-hub-signature-256': `sha256=${'0'.repeat(64)}` })).status).toBe(401);
  await waitFor(() => /refuses every request: [^"]*belongs to[^"]*/.exec(service.said())?.[0]);

  service.stop();
  await service.code;
  // The remedy helps.
  if (isRoot) chownSync(secret, NOBODY, NOBODY);
  else chmodSync(secret, 0o600);
  const again = serve(bench, { XDG_STATE_HOME: state });
  await again.url();
  expect(again.said()).not.toContain('belongs to');
});

test('where no key can be written, the places and the remedy are named', async () => {
  const { bench } = layout();
  const service = serve(bench, { XDG_STATE_HOME: '/nonexistent' });
  expect(await service.code).not.toBe(0);
  expect(service.said()).toMatch(
    /console needs a file for its key[^\n]*console-key \(EACCES\)[^\n]*XDG_STATE_HOME/,
  );
  expect(existsSync(join(bench.folder, 'etc/.sluice/console-key'))).toBe(false);
});

test('check says whose the secrets are that another user may not read, and is quiet about those that are not there', () => {
  const { bench } = layout();
  const etc = join(bench.folder, 'etc');
  const token = join(etc, 'token');
  writeFileSync(join(etc, 'sluice.yaml'), CONFIG.replace('"${T}"', '{file: token}'));
  const check = (): string => {
    const rights = isRoot ? { uid: NOBODY, gid: NOBODY } : {};
    const { stdout, stderr } = spawnSync(process.execPath, [builtMain(), 'check'], {
      cwd: etc,
      env: { ...START_ENV, HOME: '/nonexistent' },
      encoding: 'utf8',
      ...rights,
    });
    return stdout + stderr;
  };
  const remedyFor = (file: string): string => (isRoot ? `chown ${NOBODY} ${file}` : `chmod u+r ${file}`);
  const secret = join(etc, '.sluice/secrets/github');
  const without = check();
  expect(without).toContain(remedyFor(secret));
  expect(without).not.toContain('SECRET_FILE_UNREADABLE');
  writeFileSync(token, TOKEN, { mode: isRoot ? 0o600 : 0o000 });
  const unreadable = check();
  expect(unreadable).toMatch(/warning SECRET_FILE_UNREADABLE: .*token cannot be read: it belongs to/);
  expect(unreadable).toContain(remedyFor(token));
  // Only a folder that sluice made is given away as a whole: the other one may be the home of somebody.
  const made = join(etc, '.sluice/secrets');
  chmodSync(made, isRoot ? 0o700 : 0o000);
  expect(check()).toContain(isRoot ? `chown -R ${NOBODY} ${made}` : `chmod u+rx ${made}`);
  const home = join(bench.folder, 'home');
  mkdirSync(home, { mode: isRoot ? 0o700 : 0o000 });
  writeFileSync(join(etc, 'sluice.yaml'), CONFIG.replace('"${T}"', '{file: ../home/token}'));
  const remedy = isRoot ? `setfacl -m u:${NOBODY}:x ${home}` : `chmod u+rx ${home}`;
  const ofHome = check();
  expect(ofHome).toContain(remedy);
  expect(ofHome).not.toContain(`${NOBODY} ${home}`);
});
