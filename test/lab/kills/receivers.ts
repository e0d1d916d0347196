/** What receives hooks in `npm run kills`: each is installed in a folder of its own and set up as its documentation says. */
import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { hasCommand, install, PeerMissing, TOKEN } from '../bench/peers/peer.ts';

/** The agent that all receivers give their work to: it takes an HTTP request that holds the id of the event. */
export interface Agent {
  /** Takes any body that holds the id. */
  readonly url: string;
  /** The same agent as a model: the base of an interface like OpenAI's. */
  readonly modelUrl: string;
}

interface Setting {
  readonly folder: string;
  readonly port: number;
  readonly agent: Agent;
}

export interface Receiver {
  readonly name: string;
  /** What its documentation promises about an event that it answered with 2xx. */
  readonly promises: string;
  /** @throws PeerMissing where this machine cannot have it */
  prepare(setting: Setting): Promise<Prepared>;
}

export interface Prepared {
  readonly version: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly path: string;
  body(id: string): string;
}

const plainBody = (id: string): string => JSON.stringify({ id });

const sluice: Receiver = {
  name: 'Sluice',
  promises:
    'stored before the answer; its run is begun at least once, and a run that a crash ended is begun again',
  prepare: async ({ folder, port, agent }) => {
    const config = `
hooks:
  enabled: true
  token: ${TOKEN}
  defaults: { summary: never }
  mappings:
    - { id: event, match: { path: event }, action: agent, dedupe: { key: '{{id}}' }, messageTemplate: '{{id}}' }
server: { host: 127.0.0.1, port: ${String(port)} }
gateway:
  heartbeat: { everySeconds: 0 }
  runner: { kind: command, argv: [curl, -sS, --data-binary, '@-', '${agent.url}'] }
`;
    await writeFile(join(folder, 'sluice.yaml'), config);
    const main = fileURLToPath(new URL('../../../dist/main.js', import.meta.url));
    const manifest = await readFile(new URL('../../../package.json', import.meta.url), 'utf8');
    return {
      version: versionIn(manifest),
      command: process.execPath,
      args: [main, 'serve', '-c', join(folder, 'sluice.yaml')],
      path: '/hooks/event',
      body: plainBody,
    };
  },
};

const OPENCLAW = '2026.9.6';

const openclaw: Receiver = {
  name: 'OpenClaw, /hooks/agent',
  promises: 'no word about a crash: its hooks wait in memory',
  prepare: async ({ folder, port, agent }) => {
    const given = process.env['OPENCLAW_FOLDER'];
    if (given === undefined) await install(folder, { openclaw: OPENCLAW });
    const root = given ?? folder;
    const local = {
      baseUrl: agent.modelUrl,
      apiKey: 'none',
      api: 'openai-completions',
      models: [{ id: 'agent', name: 'agent' }],
    };
    const config = {
      gateway: { port, mode: 'local', bind: 'loopback', auth: { mode: 'token', token: `gateway-${TOKEN}` } },
      models: { providers: { local } },
      agents: {
        defaults: { model: { primary: 'local/agent' }, skipBootstrap: true, workspace: join(folder, 'work') },
      },
      hooks: { enabled: true, token: TOKEN },
    };
    await writeFile(join(folder, 'openclaw.json'), JSON.stringify(config));
    const packaged = join(root, 'node_modules/openclaw');
    return {
      version: versionIn(await readFile(join(packaged, 'package.json'), 'utf8')),
      command: process.execPath,
      args: [join(packaged, 'openclaw.mjs'), 'gateway'],
      env: {
        HOME: folder,
        OPENCLAW_STATE_DIR: join(folder, 'state'),
        OPENCLAW_CONFIG_PATH: join(folder, 'openclaw.json'),
      },
      path: '/hooks/agent',
      body: (id) => JSON.stringify({ message: id, name: 'event', deliver: false }),
    };
  },
};

const EXPRESS = '5.1.0';
const EXPRESS_SERVER = 'express-receiver.js';

const express: Receiver = {
  name: 'Express with a queue in memory',
  promises: 'nothing: it is what many write first',
  prepare: async ({ folder, port, agent }) => {
    await install(folder, { express: EXPRESS });
    const server = join(folder, EXPRESS_SERVER);
    await cp(new URL(EXPRESS_SERVER, import.meta.url), server);
    return {
      version: EXPRESS,
      command: process.execPath,
      args: [server, String(port), agent.url, TOKEN],
      path: '/event',
      body: plainBody,
    };
  },
};

const webhook: Receiver = {
  name: 'adnanh/webhook',
  promises: 'nothing is stored: it answers, and then the command runs',
  prepare: async ({ folder, port, agent }) => {
    if (!(await hasCommand('webhook')))
      throw new PeerMissing('the command webhook is not installed (apt-get install webhook)');
    const script = join(folder, 'work.sh');
    await writeFile(script, `#!/bin/sh\nexec curl -sS --data-binary "$1" ${agent.url}\n`, { mode: 0o755 });
    const hook = {
      id: 'event',
      'execute-command': script,
      'pass-arguments-to-command': [{ source: 'payload', name: 'id' }],
      'trigger-rule': {
        match: {
          type: 'value',
          value: `Bearer ${TOKEN}`,
          parameter: { source: 'header', name: 'Authorization' },
        },
      },
    };
    await writeFile(join(folder, 'hooks.json'), JSON.stringify([hook]));
    return {
      version: '2.8, of Debian 12',
      command: 'webhook',
      args: ['-hooks', 'hooks.json', '-ip', '127.0.0.1', '-port', String(port)],
      path: '/hooks/event',
      body: plainBody,
    };
  },
};

export const RECEIVERS: readonly Receiver[] = [sluice, openclaw, express, webhook];

const versionIn = (manifest: string): string =>
  (JSON.parse(manifest) as { readonly version: string }).version;
