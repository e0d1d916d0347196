import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Part } from '../../support/parts.ts';
import { startServer, stopServer } from './child.ts';
import { median, residentMegabytes, withSpread } from './figures.ts';

const ROUNDS = 5;

/** From spawn to listening, the memory then, and a whole `sluice check`. */
export const startPart: Part = {
  name: 'start',
  run: async (progress) => {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-'));
    const root = fileURLToPath(new URL('../../..', import.meta.url));
    const config = join(folder, 'sluice.yaml');
    await writeFile(
      config,
      'hooks: {enabled: true, token: bench-token-0123456789abcdef, presets: [mail]}\nlog: {level: info}\n',
    );
    const service: number[] = [];
    const node: number[] = [];
    const memory: number[] = [];
    const checks: number[] = [];
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
        memory.push(await residentMegabytes(started.child.pid ?? 0));
        await stopServer(started);
        const bare = await startServer([fileURLToPath(new URL('./bare-server.ts', import.meta.url))]);
        node.push(bare.readyMs);
        await stopServer(bare);
        checks.push(await checkExamples(root));
        progress(`round ${round + 1}/${ROUNDS}`);
      }
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
    const ready = median(service);
    const megabytes = median(memory);
    return [
      {
        what: 'ready after',
        figure: `${ready.toFixed(0)} ms (bare node:http ${median(node).toFixed(0)} ms)`,
        aim: { text: '250 ms', met: ready <= 250 },
        ratio: { value: ready / median(node), better: 'lower' },
      },
      {
        what: '`sluice check` of the examples',
        figure: `${withSpread(checks, (ms) => (ms / 1000).toFixed(1))} s`,
        aim: { text: '0.8 s', met: median(checks) <= 800 },
        ratio: { value: median(checks) / median(node), better: 'lower' },
      },
      {
        what: 'resident memory when ready',
        figure: `${megabytes.toFixed(0)} MB`,
        aim: { text: '100 MB', met: megabytes <= 100 },
      },
    ];
  },
};

/** Milliseconds until `sluice check` has judged the configuration and the examples of this repository. */
async function checkExamples(root: string): Promise<number> {
  const startedAt = performance.now();
  await promisify(execFile)(process.execPath, [join(root, 'dist', 'main.js'), 'check'], { cwd: root });
  return performance.now() - startedAt;
}
