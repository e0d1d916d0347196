import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createGoldenEngine } from '../../../src/authoring/golden/golden-engine.ts';
import { findCases, runCases } from '../../../src/authoring/golden/golden.ts';
import { loadGeneration } from '../../../src/service/generation/generation.ts';
import { Sandbox } from '../../../src/engine/sandbox/sandbox.ts';
import type { Part, Row } from '../../support/parts.ts';

const CASES = 1000;

/** A thousand golden cases, found, read, evaluated and compared: without and with a transform. */
export const goldenPart: Part = {
  name: 'golden',
  run: async (progress) => {
    const root = fileURLToPath(new URL('../../..', import.meta.url));
    const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-'));
    const sandbox = new Sandbox();
    try {
      await cp(join(root, 'transforms'), join(folder, 'transforms'), { recursive: true });
      await writeFile(join(folder, 'sluice.yaml'), CONFIG);
      const { generation, findings } = await loadGeneration(join(folder, 'sluice.yaml'), {
        env: {},
        needSecrets: false,
        sandbox,
      });
      if (generation === undefined) throw new Error(JSON.stringify(findings));
      const engine = createGoldenEngine(generation);
      const rows: Row[] = [];
      for (const [path, aimSeconds] of [
        ['plain', 2],
        ['digest', 4],
      ] as const) {
        const dir = join(folder, path);
        await writeCases(root, dir, path);
        await runCases(await findCases(dir), engine, { policy: 'new' });
        const startedAt = performance.now();
        const report = await runCases(await findCases(dir), engine, { policy: 'none' });
        const seconds = (performance.now() - startedAt) / 1000;
        const passed = report.results.filter((result) => result.status === 'passed').length;
        if (passed !== CASES)
          throw new Error(`only ${passed} of ${CASES} cases passed: the figure would be worthless`);
        progress(`${path} ${seconds.toFixed(2)} s`);
        rows.push({
          what: `${CASES} golden cases ${path === 'plain' ? 'without' : 'with'} a transform`,
          figure: `${seconds.toFixed(2)} s`,
          aim: { text: `${aimSeconds} s`, met: seconds <= aimSeconds },
        });
      }
      return rows;
    } finally {
      await sandbox.stop();
      await rm(folder, { recursive: true, force: true });
    }
  },
};

const CONFIG = `
hooks:
  enabled: true
  mappings:
    - id: plain
      match: {path: plain}
      name: GitHub
      sessionKey: "hook:github:{{repository.full_name}}"
      messageTemplate: |
        {{pusher.name}} pushed {{commits.length}} commit(s) to {{repository.full_name}}
        {{#each commits}}- {{truncate message 120}}
        {{/each}}
    - id: digest
      match: {path: digest}
      name: GitHub
      transform: {module: github-push-digest.ts}
`;

async function writeCases(root: string, dir: string, path: string): Promise<void> {
  const body = JSON.parse(await readFile(join(root, 'test/lab/bench/push.json'), 'utf8')) as Record<
    string,
    unknown
  >;
  await mkdir(join(dir, 'bench'), { recursive: true });
  const request = (number: number): string =>
    JSON.stringify({ path, headers: { 'x-github-event': 'push' }, body: { ...body, after: String(number) } });
  await Promise.all(
    Array.from({ length: CASES }, (_, number) =>
      writeFile(join(dir, 'bench', `case-${number}.request.json`), request(number)),
    ),
  );
}
