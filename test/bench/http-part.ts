import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Part, Row } from '../support/parts.ts';
import { startServer, stopServer, type StartedServer } from './child.ts';
import { runLoad, type LoadResult } from './load.ts';

/** Rounds per target, alternating, each after a warm-up; the medians are shown. */
const ROUNDS = 3;
const SECONDS = 3;
const CONNECTIONS = 64;
const TOKEN = 'bench-token-0123456789abcdef';

/**
 * HTTP throughput of the durable service (token checked, one fsync per commit) against a bare node:http server that
 * reads the body, parses the JSON and answers, each in a process of its own, under the same load generator.
 */
export const httpPart: Part = {
  name: 'http',
  run: async (progress) => {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-'));
    const bare = await startBare();
    const service = await startService(folder);
    try {
      const push = JSON.stringify(
        JSON.parse(await readFile(new URL('./push.json', import.meta.url), 'utf8')),
      );
      const targets = [
        { name: 'bare node:http, same body', port: bare.port, path: '/hooks/github', body: push },
        {
          name: '/wake',
          port: service.port,
          path: '/hooks/wake',
          body: '{"text":"disk is 91% full","mode":"next-heartbeat"}',
        },
        { name: 'mapped hook, GitHub push 2 KB', port: service.port, path: '/hooks/github', body: push },
        { name: 'mapped hook with a transform', port: service.port, path: '/hooks/digest', body: push },
      ];
      const results = new Map<string, LoadResult[]>();
      for (let round = 0; round < ROUNDS; round++) {
        for (const target of targets) {
          const result = await load(target, round === 0 ? 1.5 : 0.5);
          results.set(target.name, [...(results.get(target.name) ?? []), result]);
          progress(`round ${round + 1}/${ROUNDS}  ${target.name}  ${Math.round(result.requestsPerSecond)}/s`);
        }
      }
      return toRows(
        results,
        targets.map((target) => target.name),
      );
    } finally {
      await stopServer(service);
      await stopServer(bare);
      await rm(folder, { recursive: true, force: true });
    }
  },
};

async function load(
  target: { port: number; path: string; body: string },
  warmupSeconds: number,
): Promise<LoadResult> {
  const result = await runLoad({
    host: '127.0.0.1',
    port: target.port,
    path: target.path,
    headers: {
      authorization: `Bearer ${TOKEN}`,
      'content-type': 'application/json',
      'x-github-event': 'push',
    },
    body: target.body,
    connections: CONNECTIONS,
    seconds: SECONDS,
    warmupSeconds,
  });
  const bad = Object.keys(result.statuses).filter((status) => !status.startsWith('2'));
  if (bad.length > 0 || result.errors > 0) {
    throw new Error(
      `${target.path}: ${JSON.stringify(result.statuses)}, ${result.errors} errors: the figures would be worthless`,
    );
  }
  return result;
}

function toRows(
  results: ReadonlyMap<string, readonly LoadResult[]>,
  names: readonly string[],
): readonly Row[] {
  const median = (name: string, pick: (result: LoadResult) => number): number =>
    (results.get(name) ?? []).map(pick).sort((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? Number.NaN;
  const [bare = '', wake = '', mapped = '', transform = ''] = names;
  const rows: Row[] = names.map((name) => ({
    what: name,
    figure: `${Math.round(median(name, (r) => r.requestsPerSecond))}/s  p50 ${median(name, (r) => r.p50Ms).toFixed(1)} ms  p99 ${median(name, (r) => r.p99Ms).toFixed(1)} ms`,
  }));
  const ratio = (a: string, b: string): number =>
    median(a, (r) => r.requestsPerSecond) / median(b, (r) => r.requestsPerSecond);
  const percent = (value: number): string => `${(value * 100).toFixed(0)}%`;
  return [
    ...rows,
    { what: '/wake against bare', figure: percent(ratio(wake, bare)) },
    {
      what: 'durable mapped hook against bare',
      figure: percent(ratio(mapped, bare)),
      aim: { text: '60%', met: ratio(mapped, bare) >= 0.6 },
    },
    {
      what: 'with a transform against without',
      figure: percent(ratio(transform, mapped)),
      aim: { text: '60%', met: ratio(transform, mapped) >= 0.6 },
    },
  ];
}

function startBare(): Promise<StartedServer> {
  return startServer([fileURLToPath(new URL('./bare-server.ts', import.meta.url))]);
}

async function startService(folder: string): Promise<StartedServer> {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  const config = join(folder, 'sluice.yaml');
  await writeFile(config, benchConfig(root));
  return startServer([join(root, 'dist', 'main.js'), 'serve', '-c', config, '--port', '0']);
}

/** Accepting is what is measured: one run sleeps at the head while all others wait in the store. */
function benchConfig(root: string): string {
  return `
hooks:
  enabled: true
  token: ${TOKEN}
  transformsDir: ${JSON.stringify(join(root, 'transforms'))}
  mappings:
    - id: push
      match: {path: github, when: {"===": [{var: headers.x-github-event}, push]}}
      name: GitHub
      sessionKey: "hook:github:{{repository.full_name}}"
      wakeMode: next-heartbeat
      deliver: false
      messageTemplate: |
        {{pusher.name}} pushed {{commits.length}} commit(s) to {{repository.full_name}}
        {{#each commits}}- {{truncate message 120}}
        {{/each}}
    - id: digest
      match: {path: digest}
      name: GitHub
      wakeMode: next-heartbeat
      deliver: false
      transform: {module: github-push-digest.ts}
log: {level: info}
gateway:
  maxRuns: 1
  runner: {kind: command, argv: [sleep, "600"]}
  heartbeat: {everySeconds: 0}
  events: {maxPending: 10000000}
storage: {maxBacklog: {runs: 10000000, bytes: 100000000000}}
`;
}
