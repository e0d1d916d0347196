import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, chown, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { ImapFlow } from 'imapflow';
import { refuseMissing } from './checks-that-must-run.ts';
import { freePort } from './free-port.ts';

/** Debian puts it where PATH does not always lead. */
const DOVECOT = existsSync('/usr/sbin/dovecot') ? '/usr/sbin/dovecot' : 'dovecot';

/**
 * Why Dovecot cannot be used here, or undefined. Debian's package is `dovecot-imapd`.
 * @throws where its checks must run, as in CI once it is installed
 */
export function dovecotMissing(): string | undefined {
  const reason = whyMissing();
  refuseMissing('dovecot', reason);
  return reason;
}

function whyMissing(): string | undefined {
  if (spawnSync(DOVECOT, ['--version']).status !== 0) return 'dovecot is not installed (dovecot-imapd)';
  return userInfo().uid === 0 ? undefined : 'dovecot is started by root only';
}

/** A real IMAP server: user `testuser`, password `testpass`. */
export interface Dovecot {
  readonly port: number;
  /** Appends messages to the inbox, in order; resolves to when each was there. */
  append(raws: readonly string[]): Promise<readonly number[]>;
  stop(): Promise<void>;
}

/** Mail is not read as root. */
const NOBODY = 65_534;

export interface DovecotOptions {
  /** Content of the inbox at the start, in the mbox format. */
  readonly mbox?: string | Buffer;
}

export async function startDovecot({ mbox }: DovecotOptions = {}): Promise<Dovecot> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-dovecot-'));
  await chmod(folder, 0o755);
  const mail = join(folder, 'mail');
  await mkdir(mail);
  if (mbox !== undefined) await writeFile(join(mail, 'inbox'), mbox);
  await chown(mail, NOBODY, NOBODY);
  if (mbox !== undefined) await chown(join(mail, 'inbox'), NOBODY, NOBODY);
  const port = await freePort();
  await writeFile(
    join(folder, 'dovecot.conf'),
    configuration({ folder, mail, port, isMbox: mbox !== undefined }),
  );
  const child = spawn(DOVECOT, ['-F', '-c', join(folder, 'dovecot.conf')], { stdio: 'ignore' });
  const exited = once(child, 'exit');
  await untilListening(port);
  return {
    port,
    append: (raws) => appendAll(port, raws),
    stop: async () => {
      child.kill('SIGTERM');
      await exited;
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

interface Place {
  readonly folder: string;
  readonly mail: string;
  readonly port: number;
  readonly isMbox: boolean;
}

function configuration({ folder, mail, port, isMbox }: Place): string {
  const location = isMbox ? `mbox:${mail}/folders:INBOX=${mail}/inbox` : `maildir:${mail}/maildir`;
  return `protocols = imap
listen = 127.0.0.1
base_dir = ${folder}/run
log_path = ${folder}/log
ssl = no
disable_plaintext_auth = no
auth_failure_delay = 0
auth_mechanisms = plain login
mail_location = ${location}
mail_max_userip_connections = 1000
mailbox_list_index = no
namespace inbox {
  inbox = yes
  separator = /
  mailbox Junk {
    auto = create
    special_use = \\Junk
  }
}
passdb {
  driver = static
  args = password=testpass
}
userdb {
  driver = static
  args = uid=${NOBODY} gid=${NOBODY} home=${mail}
}
service imap-login {
  inet_listener imap {
    port = ${port}
  }
  inet_listener imaps {
    port = 0
  }
}
`;
}

async function untilListening(port: number): Promise<void> {
  for (let tries = 0; tries < 2_400; tries += 1) {
    const socket = connect(port, '127.0.0.1');
    const isOpen = await new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(true));
      socket.once('error', () => resolve(false));
    });
    socket.destroy();
    if (isOpen) return;
    await pause(50);
  }
  throw new Error('dovecot did not start within two minutes');
}

async function appendAll(port: number, raws: readonly string[]): Promise<readonly number[]> {
  const client = new ImapFlow({
    host: '127.0.0.1',
    port,
    secure: false,
    doSTARTTLS: false,
    auth: { user: 'testuser', pass: 'testpass' },
    logger: false,
  });
  client.on('error', () => undefined);
  await client.connect();
  const times: number[] = [];
  for (const raw of raws) {
    await client.append('INBOX', raw);
    times.push(Date.now());
  }
  await client.logout();
  return times;
}
