import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Part } from '../support/parts.ts';
import { startServer, stopServer } from './child.ts';

const ROUNDS = 5;

/** From spawn to listening, and the memory then, with the shipped mappings that need no transform. */
export const startPart: Part = {
  name: 'start',
  run: async (progress) => {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-'));
    const root = fileURLToPath(new URL('../..', import.meta.url));
    const config = join(folder, 'sluice.yaml');
    await writeFile(
      config,
      'hooks: {enabled: true, token: bench-token-0123456789abcdef, presets: [mail]}\nlog: {level: info}\n',
    );
    const service: number[] = [];
    const node: number[] = [];
    const memory: number[] = [];
    try {
      for (let round = 0; round < ROUNDS; round++) {
        const started = await startServer([
          join(root, 'dist', 'main.js'),
          'serve',
          '-c',
          config,
          '--port',
          '0',
        ]);
        service.push(started.readyMs);
        memory.push(await residentBytes(started.child.pid ?? 0));
        await stopServer(started);
        const bare = await startServer([fileURLToPath(new URL('./bare-server.ts', import.meta.url))]);
        node.push(bare.readyMs);
        await stopServer(bare);
        progress(`round ${round + 1}/${ROUNDS}`);
      }
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
    const ready = median(service);
    const megabytes = median(memory) / 1024 ** 2;
    return [
      {
        what: 'ready after',
        figure: `${ready.toFixed(0)} ms (bare node:http ${median(node).toFixed(0)} ms)`,
        aim: { text: '500 ms', met: ready <= 500 },
      },
      {
        what: 'resident memory when ready',
        figure: `${megabytes.toFixed(0)} MB`,
        aim: { text: '120 MB', met: megabytes < 120 },
      },
    ];
  },
};

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

async function residentBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) * 1024;
}
