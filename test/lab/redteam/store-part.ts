import { rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openStorage } from '../../../src/engine/storage/storage.ts';
import type { Part, Row } from '../../support/parts.ts';
import { startPostgres } from '../../support/postgres-server.ts';
import {
  runCommand,
  startServiceProcess,
  until,
  type ServiceProcess,
} from '../../support/service-process.ts';
import { startTcpProxy } from '../../support/tcp-proxy.ts';

const TOKEN = 'redteam-token-0123456789abcdef';
const BEARER = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
const main = fileURLToPath(new URL('../../../dist/main.js', import.meta.url));
const ROUNDS = 9;
const AWAY_ROUNDS = 20;

async function inFolder<Result>(url: string, act: (folder: string) => Promise<Result>): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-redteam-store-'));
  const runner = '{kind: command, argv: [sleep, "600"]}';
  writeFileSync(
    join(folder, 'sluice.yaml'),
    `hooks: {enabled: true, token: ${TOKEN}, exposeRuns: true}
server: {stopGraceSeconds: 0.1}
gateway: {maxRuns: 1, runner: ${runner}, heartbeat: {everySeconds: 0}}
storage: {url: "${url}"}
`,
  );
  try {
    return await act(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function post({ port }: ServiceProcess, path: string, key?: string): Promise<Response> {
  return fetch(`http://127.0.0.1:${port}/hooks/${path}`, {
    method: 'POST',
    headers: { ...BEARER, ...(key === undefined ? {} : { 'idempotency-key': key }) },
    body: JSON.stringify({ message: 'm', text: 't', mode: 'next-heartbeat', deliver: false }),
  });
}

/** Whether the loss was noticed within two seconds, and how many runs are missing beyond what is said of them. */
async function cutLog(round: number): Promise<{ readonly isNoticed: boolean; readonly unsaid: number }> {
  return inFolder('sqlite:./store.db', async (folder) => {
    const service = await startServiceProcess(folder, {}, { main });
    const log = join(folder, 'store.db-wal');
    let stored = 0;
    for (let index = 0; index < 70; index += 1) stored += (await post(service, 'agent')).ok ? 1 : 0;
    await new Promise((done) => setTimeout(done, 1_000));
    if (round % 3 === 0) rmSync(log);
    else truncateSync(log, round % 3 === 1 ? 0 : Math.floor((statSync(log).size * round) / ROUNDS));
    const isNoticed = await until('503', async () => !(await post(service, 'agent')).ok, 2_000).catch(
      () => false,
    );
    await service.end('SIGKILL');
    const { out } = await runCommand(folder, ['storage', 'verify']);
    const said = Number(/(\d+) runs/.exec(out)?.[1] ?? 0);
    const attached = await openStorage(`sqlite:${join(folder, 'store.db')}`, { mode: 'attached' });
    const left = (await attached.listRuns({ limit: 1000 })).length;
    await attached.close();
    return { isNoticed, unsaid: Math.max(0, stored - left - said) };
  });
}

/** Requests of every kind while the database is away: how many were not told when to come back. */
async function databaseAway(): Promise<{ readonly asked: number; readonly warningsLeft: number }> {
  const server = await startPostgres();
  const proxy = await startTcpProxy(server.port);
  try {
    const url = (await server.freshUrl()).replace(`:${server.port}/`, `:${proxy.port}/`);
    return await inFolder(url, async (folder) => {
      const service = await startServiceProcess(folder, {}, { main });
      const answers: Response[] = [];
      proxy.refuse();
      for (let round = 0; round < AWAY_ROUNDS; round += 1) {
        const runs = fetch(`http://127.0.0.1:${service.port}/hooks/runs/r${round}`, { headers: BEARER });
        const keyed = ['agent', 'wake'].map((path) => post(service, path, `k${round}`));
        answers.push(...(await Promise.all([post(service, 'agent'), post(service, 'wake'), ...keyed, runs])));
      }
      await service.end('SIGKILL');
      const isTold = ({ status, headers }: Response): boolean =>
        status === 503 && Number(headers.get('retry-after')) >= 1;
      return { asked: answers.length, warningsLeft: answers.filter((answer) => !isTold(answer)).length };
    });
  } finally {
    await proxy.stop();
    await server.stop();
  }
}

/** Somebody cuts the log of the store, or the database goes away. */
export const storePart: Part = {
  name: 'store',
  run: async (progress): Promise<readonly Row[]> => {
    progress(`${ROUNDS} logs cut, emptied or taken away`);
    const cuts: Awaited<ReturnType<typeof cutLog>>[] = [];
    for (let round = 0; round < ROUNDS; round += 1) cuts.push(await cutLog(round));
    const noticed = cuts.filter(({ isNoticed }) => isNoticed).length;
    const unsaid = cuts.reduce((sum, cut) => sum + cut.unsaid, 0);
    progress('a database that is away');
    const { asked, warningsLeft } = await databaseAway();
    return [
      {
        what: 'a log cut under a running service',
        figure: `${noticed} of ${ROUNDS} answered 503 within 2 s; ${unsaid} lost runs that "storage verify" does not name`,
        aim: { text: `${ROUNDS}; 0`, met: noticed === ROUNDS && unsaid === 0 },
      },
      {
        what: 'requests while the database is away',
        figure: `${warningsLeft} of ${asked} without 503 and Retry-After`,
        aim: { text: '0', met: warningsLeft === 0 },
      },
    ];
  },
};
