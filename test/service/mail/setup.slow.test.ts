/** `sluice webhooks mail setup` as a user runs it, and the other commands on what a service did. */
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { loadConfig } from '../../../src/engine/config/config.ts';
import { startService, type Service } from '../../../src/service/startup/startup.ts';
import { createLogger } from '../../../src/base/telemetry/telemetry.ts';
import { cli, type CliRun } from '../../support/cli-terminal.ts';
import { rawMail, startMailServer, type MailServer } from '../../support/mail-server.ts';
import { listIn } from '../../support/output-check.ts';

const CONFIG = `# The hooks of the office.
hooks:
  enabled: true # on
  token: \${TOKEN}
  # nothing yet
  presets: [] # none so far
server: {port: 0}
gateway: {heartbeat: {everySeconds: 0}}
`;
/** Takes mail unless its subject says otherwise. */
const PICKY = `{id: m, match: {path: mail, when: {"!": {in: [refuse, {var: payload.messages.0.subject}]}}}, messageTemplate: "{{messages.0.subject}}"}`;
const env = { TOKEN: 'hook-token-0123456789-0123456789' };

let server: MailServer;
let folder: string;

beforeEach(async () => {
  server = await startMailServer([rawMail('old')]);
  folder = await mkdtemp(join(tmpdir(), 'sluice-setup-'));
  await writeFile(join(folder, 'sluice.yaml'), CONFIG);
  await writeFile(join(folder, 'password'), 'testpass\n');
});
afterEach(async () => {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
});

const mail = (...args: string[]): Promise<CliRun> => cli(['webhooks', 'mail', ...args], { cwd: folder, env });
const config = (): Promise<string> => readFile(join(folder, 'sluice.yaml'), 'utf8');

const answers = (more: readonly string[] = []): string[] => [
  'setup',
  '--provider=imap',
  '--account=testuser',
  '--host=127.0.0.1',
  `--port=${server.port}`,
  '--security=none',
  '--password-file=password',
  ...more,
];

describe('setup', () => {
  test('tests the connection, then writes secret, block and preset; comments stay, no secret is in the file', async () => {
    const run = await mail(...answers());
    expect(run).toMatchObject({ exitCode: 0, out: '' });
    expect(run.err).toContain('INBOX holds 1 messages, of which none starts a run');
    const text = await config();
    expect(text).toContain('# The hooks of the office.');
    expect(text).toContain('enabled: true # on');
    expect(text).toContain('presets: [mail] # none so far');
    expect(text).not.toContain('testpass');
    const { config: loaded, findings } = await loadConfig(join(folder, 'sluice.yaml'), {
      env,
      needSecrets: true,
    });
    expect(findings.filter(({ severity }) => severity === 'error')).toEqual([]);
    expect(loaded?.settings.hooks).toMatchObject({
      presets: ['mail'],
      mail: {
        account: 'testuser',
        auth: { kind: 'password', password: 'testpass' },
        run: true,
        path: 'mail',
      },
    });
    expect((await stat(join(folder, '.sluice', 'mail-password'))).mode & 0o777).toBe(0o600);
    expect(await readFile(join(folder, '.sluice', '.gitignore'), 'utf8')).toBe('*\n');
  });

  test('run again, changes only what is new', async () => {
    await mail(...answers());
    await writeFile(
      join(folder, 'sluice.yaml'),
      (await config()).replace('    account:', '    # of the office\n    account:'),
    );
    const before = await config();
    expect((await mail(...answers())).exitCode).toBe(0);
    expect(await config()).toBe(before);
    expect((await mail(...answers(['--from', '@example.org', '--since', '2026-11-01']))).exitCode).toBe(0);
    const after = await config();
    expect(after).toContain('# of the office');
    const { config: loaded } = await loadConfig(join(folder, 'sluice.yaml'), { env, needSecrets: true });
    expect(loaded?.settings.hooks.mail).toMatchObject({ from: ['@example.org'], since: '2026-11-01' });
  });

  test('run again for another server, leaves nothing of the one before', async () => {
    await writeFile(
      join(folder, 'sluice.yaml'),
      `${CONFIG}  mail: {version: 1, kind: imap, account: a, host: old.example, port: 1, user: u, maxBodyChars: 5, auth: {kind: password, password: x}}\n`.replace(
        /(server:.*\ngateway:.*\n)( {2}mail:.*\n)/,
        '$2$1',
      ),
    );
    const run = await mail(...answers(['--json']));
    expect(run.exitCode).toBe(0);
    const { config: loaded } = await loadConfig(join(folder, 'sluice.yaml'), { env, needSecrets: true });
    expect(loaded?.settings.hooks.mail).toMatchObject({ port: server.port, maxBodyChars: 5 });
    expect(loaded?.settings.hooks.mail).not.toHaveProperty('user');
  });

  describe('says what this mailbox can prove', () => {
    const checked = (dmarc: string): string =>
      `Authentication-Results: mx.example.net; dmarc=${dmarc} header.from=example.org\r\n${rawMail(dmarc)}`;
    const fill = (raws: readonly string[]): void => {
      for (const raw of raws) server.deliver(raw);
    };
    const known = (more = ''): Promise<void> =>
      writeFile(
        join(folder, 'sluice.yaml'),
        CONFIG.replace(
          '  presets: []',
          `  mail: {version: 1, kind: imap, account: testuser, host: 127.0.0.1, authServers: [mx.example.net]${more}, auth: {kind: password, password: x}}\n  presets: []`,
        ),
      );

    test('and writes the level where it can', async () => {
      await known();
      fill([checked('pass'), checked('fail')]);
      const run = await mail(...answers());
      expect(run.err).toContain(
        'who wrote a mail is proved here by mx.example.net: of the 3 newest mails 2 were checked, 1 of them verified; hooks.mail.accept is verified',
      );
      expect(await config()).toContain('accept: verified');
    });

    test('and leaves it where it cannot, or where it was decided', async () => {
      fill([checked('pass'), checked('pass')]);
      const run = await mail(...answers());
      expect(run.err).toContain(
        'of the 3 newest mails 0 were checked, 0 of them verified; npm install mailauth',
      );
      expect(await config()).not.toContain('accept');
      await known(', accept: any');
      expect((await mail(...answers())).err).toContain('is proved here by mx.example.net');
      expect(await config()).toContain('accept: any');
    });
  });

  test.each([
    ['a wrong password', ['--user', 'nobody'], 'refused the login of nobody'],
    ['a folder that is not there', ['--folder', 'Nowhere'], 'no folder "Nowhere"; it has INBOX'],
    ['spam', ['--folder', 'Junk'], 'holds spam'],
    ['a host that would get the password in clear text', ['--host', 'imap.example.org'], 'in clear text', 2],
    ['a hook name that is none', ['--hook-path', 'a b'], 'hooks.mail.path: a hook name such as mail', 2],
    ['a port nobody listens on', ['--port', '1'], 'ECONNREFUSED', 3],
  ])('writes nothing after %s', async (_, more, message, code = 1) => {
    const run = await mail(...answers(more));
    expect(run.exitCode).toBe(code);
    expect(run.err).toContain(message);
    expect(run.err).not.toContain('testpass');
    expect(await config()).toBe(CONFIG);
    await expect(stat(join(folder, '.sluice'))).rejects.toThrow('ENOENT');
  });

  test('shows with --dry-run what it would write, and says with --json what it wrote, without the secret', async () => {
    const dry = await mail(...answers(['--dry-run']));
    expect(dry.out).toContain('kind: imap');
    expect(await config()).toBe(CONFIG);
    const run = await mail(...answers(['--json']));
    expect(run.out).not.toContain('testpass');
    expect(JSON.parse(run.out)).toEqual({
      version: 1,
      command: 'webhooks mail setup',
      mail: {
        version: 1,
        kind: 'imap',
        account: 'testuser',
        host: '127.0.0.1',
        port: server.port,
        security: 'none',
        auth: { kind: 'password', password: { file: '.sluice/mail-password' } },
      },
      folders: [{ path: 'INBOX', messages: 1 }],
      written: ['.sluice/mail-password', join(folder, 'sluice.yaml')],
    });
  });

  test.each([
    [[], '--provider'],
    [['--provider', 'imap'], '--account'],
    [['--provider', 'imap', '--account', 'a@example.org'], '--host'],
    [['--provider', 'fastmail', '--account', 'a@example.org'], '--password-file'],
    [['--provider', 'gmail', '--account', 'a@example.org'], '--auth'],
    [['--provider', 'outlook', '--account', 'a@example.org'], '--client-id'],
    [['--provider', 'yahoo', '--account', 'a@example.org', '--auth', 'oauth2'], 'takes password only'],
  ])('where nobody can be asked, %j names what is missing: %s', async (args, named) => {
    const run = await mail('setup', ...args);
    expect(run.exitCode).toBe(2);
    expect(run.err).toContain(named);
  });
});

describe('the other commands', () => {
  /** Each look opens the store, which takes more than what is waited for. */
  const SLOWLY = { timeout: 60_000, interval: 400 };

  test('show and move what a service refused', async () => {
    await mail(...answers());
    await writeFile(
      join(folder, 'sluice.yaml'),
      (await config()).replace('  presets: [mail] # none so far', `  mappings:\n    - ${PICKY}`),
    );
    let service: Service | undefined = await serve();
    try {
      await vi.waitFor(async () => expect((await mail('status')).out).toContain('connected'), SLOWLY);
      server.deliver(rawMail('refuse this'));
      server.deliver(rawMail('take this'));
      const listed = await vi.waitFor(async () => {
        const run = await mail('list', '--json');
        const rows = listIn<{ id: string; code: string; subject: string }>(run.out);
        expect(rows).toHaveLength(1);
        return rows;
      }, SLOWLY);
      expect(listed[0]).toMatchObject({ code: 'no_mapping_matched', subject: 'refuse this', status: 404 });
      expect((await mail('list', '--no-text', '--json')).out).not.toContain('refuse this');
      expect((await mail('list')).out).toContain('no_mapping_matched');
      const runs = await cli(['runs', '--json'], { cwd: folder, env });
      expect(runs.out).toContain('take this');
      expect(await mail('retry', 'nothing')).toMatchObject({ exitCode: 1 });
      expect((await mail('retry')).exitCode).toBe(2);
      expect((await mail('retry', listed[0]?.id ?? '')).out).toContain('1 message will be delivered again');
      await vi.waitFor(async () => {
        const [row] = listIn((await mail('list', '--json')).out);
        expect(row).toMatchObject({ attempts: 2, state: 'set-aside' });
      }, SLOWLY);
      expect((await mail('drop', '--all', '--json')).out).toContain('"changed":1}\n');
      expect((await mail('list')).err).toContain('no refused messages');
      await service.stop();
      service = undefined;
      const status = await mail('status', '--json');
      expect(status.exitCode).toBe(1);
      expect(listIn(status.out)).toMatchObject([{ mailbox: 'imap:testuser/INBOX', state: 'not-running' }]);
    } finally {
      await service?.stop();
    }
  });

  test('run needs a mailbox, and names the command that writes one', async () => {
    const run = await mail('run');
    expect(run.exitCode).toBe(2);
    expect(run.err).toContain('sluice webhooks mail setup');
  });
});

function serve(): Promise<Service> {
  const log = createLogger({ destination: { write: () => true } });
  return startService({ configFile: join(folder, 'sluice.yaml'), env, log, readMail: true });
}

test('doctor logs in to the mailbox, and shows no secret where that fails', async () => {
  const block = (password: string, more = ''): string =>
    `  mail: {version: 1, kind: imap, account: testuser, host: 127.0.0.1, port: ${server.port}, security: none, accept: any, auth: {kind: password, password: "\${${password}}"}${more}}\n`;
  const look = async (mailBlock: string): Promise<string> => {
    await writeFile(join(folder, 'sluice.yaml'), CONFIG.replace('server:', `${mailBlock}server:`));
    const secrets = { RIGHT: 'testpass', WRONG: 'wrong-password-0123456789' };
    const { out, err } = await cli(['doctor'], { cwd: folder, env: { ...env, ...secrets } });
    for (const secret of [...Object.values(secrets), env.TOKEN]) expect(out + err).not.toContain(secret);
    return out.split('\n').find((line) => line.includes(' mail ')) ?? out + err;
  };
  expect(await look(block('RIGHT'))).toMatch(
    /^ok +mail +the mailbox testuser \(imap\) takes the login and opens INBOX$/,
  );
  const wrong = await look(block('WRONG'));
  expect(wrong).toMatch(/^problem/);
  expect(wrong).toContain('run "sluice webhooks mail setup" to log in again');
  expect(await look(block('RIGHT', ', folders: [Nowhere]'))).toMatch(/^problem.*Nowhere/);
});
