import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  end,
  install,
  listening,
  type Peer,
  peerFolder,
  PeerMissing,
  removeFolder,
  run,
  TOKEN,
  TRANSFORM,
} from './peer.ts';
import { freePort } from '../../../support/free-port.ts';

/** The gateway whose hooks our users come from: a mapping that wakes its main session. */
export const openclaw: Peer = {
  name: 'openclaw',
  does: 'token, template, event in memory: a crash loses it',
  start: async () => {
    const folder = await peerFolder();
    const port = await freePort();
    const config = join(folder, 'openclaw.json');
    await install(folder, { openclaw: '2026.9.6' });
    await writeFile(config, JSON.stringify(configOf(port)));
    await mkdir(join(folder, 'hooks/transforms'), { recursive: true });
    await writeFile(join(folder, 'hooks/transforms', TRANSFORM.file), TRANSFORM.source);
    const child = run(process.execPath, [join(folder, 'node_modules/openclaw/openclaw.mjs'), 'gateway'], {
      cwd: folder,
      env: { HOME: folder, OPENCLAW_STATE_DIR: folder, OPENCLAW_CONFIG_PATH: config },
    });
    const stop = async (): Promise<void> => {
      await end(child);
      await removeFolder(folder);
    };
    await Promise.race([listening(port, 'openclaw'), endedEarly(child)]).catch(async (error: unknown) => {
      await stop();
      throw error;
    });
    return { port, path: '/hooks/github', transformPath: '/hooks/transformed', stop };
  },
};

function configOf(port: number): object {
  return {
    gateway: { port, mode: 'local', bind: 'loopback', auth: { mode: 'token', token: `gateway-${TOKEN}` } },
    hooks: {
      enabled: true,
      token: TOKEN,
      path: '/hooks',
      mappings: [
        {
          match: { path: 'github' },
          action: 'wake',
          wakeMode: 'next-heartbeat',
          textTemplate: '{{pusher.name}} pushed to {{repository.full_name}}',
        },
        {
          match: { path: 'transformed' },
          action: 'wake',
          wakeMode: 'next-heartbeat',
          transform: { module: TRANSFORM.file },
        },
      ],
    },
  };
}

function endedEarly(child: ReturnType<typeof run>): Promise<never> {
  return new Promise((_, reject) => {
    child.once('exit', (code) => reject(new PeerMissing(`openclaw ended at start with ${String(code)}`)));
    child.once('error', () => reject(new PeerMissing('openclaw could not be started')));
  });
}
