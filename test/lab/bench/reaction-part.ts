import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Part } from '../../support/parts.ts';
import { startServer, stopServer } from './child.ts';
import { percentile } from './figures.ts';

const HOOKS = 200;
const TOKEN = 'bench-token-0123456789abcdef';
const GIVE_UP_MS = 10_000;

/** From the answer to a sender until the process of the agent has begun, on a machine that does nothing else. */
export const reactionPart: Part = {
  name: 'reaction',
  run: async (progress) => {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-'));
    const began = join(folder, 'began');
    const config = join(folder, 'sluice.yaml');
    await writeFile(config, configOf(began));
    await writeFile(began, '');
    const main = fileURLToPath(new URL('../../../dist/main.js', import.meta.url));
    const service = await startServer([main, 'serve', '-c', config, '--port', '0']);
    try {
      const times: number[] = [];
      for (let hook = 0; hook < HOOKS; hook += 1) {
        times.push(await measure(service.port, began, hook));
        if ((hook + 1) % 50 === 0) progress(`${hook + 1}/${HOOKS} hooks`);
      }
      const p99 = percentile(times, 0.99);
      return [
        {
          what: 'hook answered until agent process began',
          figure: `p50 ${percentile(times, 0.5).toFixed(1)}, p99 ${p99.toFixed(1)} ms`,
          aim: { text: 'p99 50 ms', met: p99 <= 50 },
        },
      ];
    } finally {
      await stopServer(service);
      await rm(folder, { recursive: true, force: true });
    }
  },
};

/** The agent writes the time at which it began; starting `sh` and `date` is part of the figure. */
function configOf(began: string): string {
  return `
hooks: {enabled: true, token: ${TOKEN}, path: /hooks}
log: {level: info}
gateway:
  runner: {kind: command, argv: [sh, -c, "date +%s.%N >> ${began}; echo done"]}
  heartbeat: {everySeconds: 0}
`;
}

async function measure(port: number, began: string, hook: number): Promise<number> {
  const answer = await fetch(`http://127.0.0.1:${port}/hooks/agent`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify({ message: `look at ${hook}`, deliver: false, wakeMode: 'next-heartbeat' }),
  });
  const answeredAt = performance.timeOrigin + performance.now();
  if (answer.status !== 202) throw new Error(`the hook was answered ${answer.status}`);
  await answer.arrayBuffer();
  while (performance.timeOrigin + performance.now() < answeredAt + GIVE_UP_MS) {
    const lines = (await readFile(began, 'utf8')).trim().split('\n');
    if (lines.length > hook && lines[hook] !== '') return Number(lines[hook]) * 1000 - answeredAt;
    await wait(2);
  }
  throw new Error(`no agent process began within ${GIVE_UP_MS / 1000} s of hook ${hook}`);
}
