import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startService, type Service } from '../../../service/startup/startup.ts';
import { hooksAddress } from '../../../engine/config/config.ts';
import { createLogger, clearControl } from '../../../base/telemetry/telemetry.ts';
import type { Storage } from '../../../engine/storage/storage.ts';
import { useStore } from '../operating/store-tasks.ts';
import type { Cli } from '../command-line.ts';
import { readRequests } from '../authoring/request-file.ts';
import { formatAnswer, post } from './send.ts';
import { CliError, formatOneLine, type Terminal } from '../terminal.ts';
import { serviceAdvice } from '../lazy-advice.ts';

const REQUESTS = ['github/push', 'alertmanager/firing', 'mail/batch'] as const;
/** Runs of the echo runner end within milliseconds; beyond this something is wrong. */
const SETTLE_MS = 10_000;

/**
 * Shows the main job without a second terminal: it starts a service on a free port, sends three real
 * payloads, prints what became of each, and stops.
 */
export async function demo(cli: Cli): Promise<void> {
  const { terminal } = cli;
  const folder = await mkdtemp(join(tmpdir(), 'sluice-demo-'));
  const token = randomBytes(24).toString('base64url');
  let service: Service | undefined;
  try {
    service = await startDemo(folder, token);
    terminal.out(
      `A service runs on ${service.url}, with the mappings of this repository and the echo runner.\n`,
    );
    const url = hooksAddress(service.url, service.generation.config.settings);
    const runs = await sendAll(terminal, { url, token });
    await useStore(storeOf(folder), (storage) => showOutcome(terminal, storage, runs));
  } finally {
    await service?.stop();
    await rm(folder, { recursive: true, force: true });
  }
  terminal.out('Stopped; the store of the demo is gone. "npm start" runs the service for real.');
}

/** The root is the repository, or the installed package. */
const ROOT = fileURLToPath(new URL('../../../..', import.meta.url));

async function startDemo(folder: string, token: string): Promise<Service> {
  const configFile = join(folder, 'sluice.yaml');
  await writeFile(configFile, demoConfig(folder));
  return startService({
    ...serviceAdvice,
    configFile,
    env: { SLUICE_DEMO_TOKEN: token },
    log: createLogger({ level: 'warn', format: 'pretty' }),
  });
}

async function sendAll(terminal: Terminal, target: Parameters<typeof post>[0]): Promise<ReadonlySet<string>> {
  const runs = new Set<string>();
  for (const name of REQUESTS) {
    const file = join(ROOT, 'test', 'golden', `${name}.request.yaml`);
    for (const request of await readRequests(terminal, file)) {
      const bytes = JSON.stringify(request.payload).length;
      terminal.out(`→ POST /hooks/${request.path}  (${bytes} bytes, ${name})`);
      const answer = await post(target, { request });
      terminal.out(`← ${formatAnswer(answer)}\n`);
      if (answer.status >= 300) throw new CliError(`the demo expected a 2xx for ${name}`, 3);
      for (const id of runIds(answer.body)) runs.add(id);
    }
  }
  return runs;
}

const storeOf = (folder: string): string => `sqlite:${join(folder, 'demo.db')}`;

function demoConfig(folder: string): string {
  return [
    'hooks:',
    '  enabled: true',
    '  token: ${SLUICE_DEMO_TOKEN}',
    '  presets: [mail]',
    `  mappingsDir: ${JSON.stringify(join(ROOT, 'mappings'))}`,
    `  transformsDir: ${JSON.stringify(join(ROOT, 'transforms'))}`,
    'server: {port: 0}',
    `storage: {url: ${JSON.stringify(storeOf(folder))}}`,
    '',
  ].join('\n');
}

function runIds(body: unknown): readonly string[] {
  const answer = body as { runId?: string; runIds?: readonly string[] } | null;
  return [...(answer?.runIds ?? []), ...(answer?.runId === undefined ? [] : [answer.runId])];
}

async function showOutcome(terminal: Terminal, storage: Storage, ids: ReadonlySet<string>): Promise<void> {
  const runs = await settle(storage, ids);
  terminal.out(`What became of them, as "sluice runs" lists it:`);
  for (const run of runs) {
    terminal.out(`  ${run.action.name} [${run.action.sessionKey}] ${run.state} ${run.outcome ?? ''}`);
    terminal.out(`    the agent was asked: ${formatOneLine(clearControl(run.action.message), 150)}`);
  }
  const events = await storage.listEvents({ limit: 10 });
  terminal.out(`\nThe main session received this, as "sluice events" lists it:`);
  for (const event of events.toReversed()) terminal.out(`  ${formatOneLine(clearControl(event.text), 110)}`);
  terminal.out('');
}

async function settle(
  storage: Storage,
  ids: ReadonlySet<string>,
): Promise<Awaited<ReturnType<Storage['listRuns']>>> {
  const deadline = performance.now() + SETTLE_MS;
  for (;;) {
    const runs = (await storage.listRuns({ limit: 100 })).filter((run) => ids.has(run.id));
    if (runs.length === ids.size && runs.every((run) => run.state === 'completed')) return runs.toReversed();
    if (performance.now() > deadline) throw new CliError('the demo runs did not end in time', 3);
    await new Promise((done) => setTimeout(done, 20));
  }
}
