/** A whole service with one path whose sender keeps a log, and that sender. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { onTestFinished } from 'vitest';
import { type Service, startService } from '../../src/service/startup/startup.ts';
import { createLogger } from '../../src/base/telemetry/telemetry.ts';
import { cli, type CliRun } from './cli-terminal.ts';
import { query } from './postgres-server.ts';
import { ASK_TOKEN, type Provider, SECRET, SenderLog } from './sender-log.ts';

export const ENV = {
  SLUICE_HOOK_TOKEN: 'a-hook-token-0123456789',
  SECRET,
  ASK_TOKEN,
  PATH: process.env['PATH'],
};

const OF: Readonly<
  Record<
    Provider,
    { readonly id: string; readonly target?: string; readonly maxAge: number; readonly message: string }
  >
> = {
  github: {
    id: 'headers.x-github-delivery',
    target: 'octocat/hello-world',
    maxAge: 259_200,
    message: '{{n}}',
  },
  gitlab: { id: 'headers.idempotency-key', target: 'group/project', maxAge: 259_200, message: '{{n}}' },
  stripe: { id: 'payload.id', maxAge: 518_400, message: '{{data.object.n}}' },
};

export interface RecoveryBench {
  readonly sender: SenderLog;
  readonly folder: string;
  readonly log: readonly string[];
  start(): Promise<Service>;
  run(...args: readonly string[]): Promise<CliRun>;
  /** What the runs are about, in the order in which they were accepted. */
  started(): Promise<readonly string[]>;
}

/** Reads the store beside the service: a command line for it opens a thread each time. */
async function rowsOf(url: string, text: string): Promise<readonly Record<string, unknown>[]> {
  if (!url.startsWith('sqlite:')) return query(url, text);
  using database = new DatabaseSync(url.slice('sqlite:'.length), { readOnly: true });
  return database.prepare(text).all();
}

export async function openRecovery(
  provider: Provider,
  {
    recover = '',
    storage,
    more = '',
    target: named,
    everySeconds = 10,
  }: {
    readonly recover?: string;
    readonly storage?: string;
    readonly more?: string;
    readonly target?: string;
    readonly everySeconds?: number;
  } = {},
): Promise<RecoveryBench> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-recovery-'));
  const sender = new SenderLog(provider);
  await sender.listen();
  onTestFinished(async () => {
    await sender.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const url = storage ?? `sqlite:${join(folder, 'sluice.db')}`;
  const { id, target: usual, maxAge, message } = OF[provider];
  const target = named ?? usual;
  mkdirSync(join(folder, 'mappings'));
  const field = provider === 'stripe' ? 'payload.data.object' : 'payload';
  writeFileSync(
    join(folder, 'mappings', 'hooks.yaml'),
    `- id: skipped
  match: { path: ${provider}, when: { '===': [{ var: ${field}.skip }, true] } }
  action: skip
- id: started
  match: { path: ${provider} }
  verify: { scheme: ${provider}, secrets: ['\${SECRET}'] }
  recover: { token: '\${ASK_TOKEN}', api: '${sender.api}', everySeconds: ${String(everySeconds)}${target === undefined ? '' : `, target: ${target}`}${recover} }
  dedupe: { key: '{{${id}}}', ttlSeconds: ${String(maxAge)} }
  messageTemplate: 'about ${message}'
  deliver: false
${more}`,
  );
  writeFileSync(
    join(folder, 'sluice.yaml'),
    `hooks: { enabled: true, token: '\${SLUICE_HOOK_TOKEN}' }
server: { port: 0, publicUrl: 'https://hooks.example.com' }
storage: { leaseSeconds: 5, url: '${url}' }
gateway: { runner: echo }
metrics: { port: 0 }
`,
  );
  sender.webhooks = [
    {
      id: 11,
      name: 'web',
      active: true,
      url: 'https://other.example.com/hooks/x',
      config: { url: 'https://other.example.com/hooks/x' },
      alert_status: 'executable',
      status: 'enabled',
      enabled_events: ['*'],
    },
    {
      id: 12,
      name: 'web',
      active: true,
      url: `https://hooks.example.com/hooks/${provider}`,
      config: { url: `https://hooks.example.com/hooks/${provider}` },
      alert_status: 'executable',
      status: 'enabled',
      enabled_events: ['invoice.payment_failed'],
    },
  ];
  const log: string[] = [];
  const run = (...args: readonly string[]): Promise<CliRun> => cli([...args], { cwd: folder, env: ENV });
  return {
    sender,
    folder,
    log,
    run,
    start: async () => {
      const service = await startService({
        configFile: join(folder, 'sluice.yaml'),
        env: ENV,
        log: createLogger({ destination: { write: (line: string) => log.push(line) > 0 } }),
      });
      onTestFinished(() => service.stop());
      sender.target = `${service.url}/hooks/${provider}`;
      return service;
    },
    started: async () => {
      const rows = await rowsOf(
        url,
        "SELECT a.action FROM runs r JOIN run_actions a ON a.seq = r.seq WHERE r.kind = 'hook' ORDER BY r.seq",
      );
      return rows.map(({ action }) => {
        const { message } = JSON.parse(String(action)) as { readonly message: string };
        return / about (\S+)| ?about (\S+)/.exec(` ${message}`)?.[1] ?? message;
      });
    },
  };
}
