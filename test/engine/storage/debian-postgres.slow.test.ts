import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { cli } from '../../support/cli-terminal.ts';
import { findDebianPostgres } from '../../support/debian-postgres.ts';
import { query, startPostgres } from '../../support/postgres-server.ts';
import { startServiceProcess } from '../../support/service-process.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const TOKEN = '0123456789abcdef0123456789abcdef';
const found = findDebianPostgres();
const reason = 'missing' in found ? `: ${found.missing}` : '';

async function sendHook(port: number): Promise<number> {
  const answer = await fetch(`http://127.0.0.1:${port}/hooks/agent`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json', prefer: 'wait=20' },
    body: JSON.stringify({ message: 'hello', sessionKey: 'k', deliver: false }),
  });
  return answer.status;
}

test.skipIf('missing' in found)(
  `the server and the tools of Debian: a service, its status, a dump, and a service on what was restored${reason}`,
  async () => {
    if ('missing' in found) return;
    const folder = temporaryFolder();
    const { programs } = found;
    const server = await startPostgres({ programs });
    onTestFinished(() => server.stop());
    const addressOf = (database: string) => `postgres://postgres@127.0.0.1:${server.port}/${database}`;
    const [used, restored] = [
      addressOf(await server.freshDatabase()),
      addressOf(await server.freshDatabase()),
    ];
    writeFileSync(
      join(folder, 'sluice.yaml'),
      `
hooks: {enabled: true, token: ${TOKEN}}
gateway: {runner: {kind: echo}, heartbeat: {everySeconds: 0}}
storage: {url: "\${DATABASE_URL}"}
`,
    );
    const service = await startServiceProcess(folder, { DATABASE_URL: used });
    onTestFinished(() => void service.child.kill('SIGKILL'));
    expect(await sendHook(service.port)).toBe(200);
    const run = (args: readonly string[], url: string) =>
      cli(args, { cwd: folder, env: { DATABASE_URL: url } });
    const { exitCode, out } = await run(['storage', 'status'], used);
    const [{ server_version: version }] = (await query(used, 'SHOW server_version')) as [
      { server_version: string },
    ];
    expect([exitCode, out]).toEqual([0, expect.stringContaining(`PostgreSQL ${version}, direct`)]);
    const backup = await run(['storage', 'backup', 'copy.db'], used);
    expect([backup.exitCode, backup.err]).toEqual([3, expect.stringContaining('pg_dump --format=custom')]);

    const dump = join(folder, 'sluice.dump');
    execFileSync(join(programs, 'pg_dump'), ['--format=custom', `--file=${dump}`, used]);
    await service.end('SIGTERM');
    execFileSync(join(programs, 'pg_restore'), ['--dbname', restored, dump]);
    expect(await run(['storage', 'verify'], restored)).toMatchObject({ exitCode: 0 });
    const next = await startServiceProcess(folder, { DATABASE_URL: restored });
    onTestFinished(() => void next.child.kill('SIGKILL'));
    expect(await sendHook(next.port)).toBe(200);
    const runs = await run(['runs', '--json'], restored);
    expect(runs.out.match(/"sessionKey": ?"k"/g)).toHaveLength(2);
    expect((await next.end('SIGTERM')).code).toBe(0);
  },
);
