import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { openConsole } from '../../src/frontends/cli/running/serve.ts';
import { startService, type Service } from '../../src/service/startup/startup.ts';
import type { Storage } from '../../src/engine/storage/storage.ts';
import { createLogger } from '../../src/base/telemetry/telemetry.ts';
import { TOKEN } from './cli-service.ts';
import { serviceAdvice } from '../../src/frontends/cli/lazy-advice.ts';

/** A service with its console, in a folder. */
export interface ConsoleService {
  readonly service: Service;
  /** The console's address. */
  readonly url: string;
  /** The address that signs in. */
  readonly link: string;
  readonly log: readonly string[];
  readonly storage: Storage;
  send(path: string, body: unknown, headers?: Readonly<Record<string, string>>): Promise<Answer>;
  stop(): Promise<void>;
}

export interface Answer {
  readonly status: number;
  readonly requestId: string;
}

/** Starts what `sluice dev` starts (or `serve`), on free ports. */
export async function startConsoleService(
  folder: string,
  { mode = 'dev', port = 0 }: { readonly mode?: 'dev' | 'serve'; readonly port?: number } = {},
): Promise<ConsoleService> {
  const lines: string[] = [];
  const log = createLogger({ destination: { write: (line: string) => lines.push(line) > 0 } });
  const configFile = join(folder, 'sluice.yaml');
  const env = { SLUICE_HOOK_TOKEN: TOKEN, PATH: process.env['PATH'] };
  const opened = { url: '', link: '' };
  const held: { storage?: Storage } = {};
  const service = await startService({
    ...serviceAdvice,
    configFile,
    env,
    log,
    listen: { port },
    keepRequests: { which: 'all' },
    openConsole: async (parts) => {
      held.storage = parts.storage;
      const console = await openConsole({ mode, configFile, env, log }, parts);
      if (console !== undefined) Object.assign(opened, { url: console.url, link: console.link });
      return console;
    },
  });
  if (held.storage === undefined) throw new Error('a service opens its console');
  return {
    service,
    storage: held.storage,
    ...opened,
    log: lines,
    send: async (path, body, headers = {}) => {
      const answer = await fetch(`${service.url}/hooks/${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json', ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      });
      await answer.text();
      return { status: answer.status, requestId: answer.headers.get('x-request-id') ?? '' };
    },
    stop: () => service.stop(),
  };
}

/** Mappings, a transform and golden cases in a folder of their own. */
const FILES: Readonly<Record<string, string>> = {
  'sluice.yaml': `hooks: {enabled: true, token: "\${SLUICE_HOOK_TOKEN}", maxBodyBytes: 8000000}
gateway: {heartbeat: {everySeconds: 0}, runners: {slow: {kind: command, argv: [sleep, "60"], cwd: private, maxRuns: 1}}}
server: {stopGraceSeconds: 0.1}
console: {enabled: true, port: 0}
`,
  'mappings/order.yaml': `# Orders of the shop.
- id: order-agent
  match:
    path: order
    when: { and: [{ '!!': [{ var: payload.id }] }, { '!==': [{ var: payload.buyer.name }, ''] }] }
  name: Shop
  messageTemplate: '{{buyer.name}} bought{{#each items}} {{sku}}{{/each}} {{note}}'
  deliver: false
- { id: order-slow, match: { path: slow }, runner: slow, messageTemplate: 'hello', deliver: false }
- id: order-code
  match: { path: coded }
  transform: shout.ts
  deliver: false
`,
  'transforms/shout.ts': `export default ({ payload }: { payload: { text: string } }) => {
  console.log('got', payload.text);
  return { message: payload.text.toUpperCase() };
};
`,
  'test/golden/order/one.request.yaml':
    'path: order\nbody: {id: 1, buyer: {name: Eve}, items: [{sku: C3}]}\n',
};

export function makeConsoleFolder(more: Readonly<Record<string, string>> = {}): {
  readonly path: string;
  remove(): void;
} {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'sluice-console-')));
  for (const [name, text] of Object.entries({ ...FILES, ...more })) {
    mkdirSync(dirname(join(path, name)), { recursive: true });
    writeFileSync(join(path, name), text);
  }
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}
