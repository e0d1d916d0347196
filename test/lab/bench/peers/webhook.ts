import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  end,
  hasCommand,
  listening,
  type Peer,
  peerFolder,
  PeerMissing,
  removeFolder,
  run,
  TOKEN,
} from './peer.ts';
import { freePort } from '../../../support/free-port.ts';

/** github.com/adnanh/webhook, from Debian: a rule on a header, then a command for each hook. */
export const webhook: Peer = {
  name: 'webhook',
  does: 'token, arguments from the payload, a process for each hook (here: true); nothing is stored',
  start: async () => {
    if (!(await hasCommand('webhook')))
      throw new PeerMissing('the command webhook is not installed (apt-get install webhook)');
    const folder = await peerFolder();
    const port = await freePort();
    await writeFile(join(folder, 'hooks.json'), JSON.stringify([HOOK]));
    const child = run('webhook', ['-hooks', 'hooks.json', '-ip', '127.0.0.1', '-port', String(port)], {
      cwd: folder,
    });
    await listening(port, 'webhook');
    return {
      port,
      path: '/hooks/github',
      stop: async () => {
        await end(child);
        await removeFolder(folder);
      },
    };
  },
};

const HOOK = {
  id: 'github',
  'execute-command': '/bin/true',
  'pass-arguments-to-command': [
    { source: 'payload', name: 'pusher.name' },
    { source: 'payload', name: 'repository.full_name' },
  ],
  'success-http-response-code': 202,
  'trigger-rule': {
    match: {
      type: 'value',
      value: `Bearer ${TOKEN}`,
      parameter: { source: 'header', name: 'Authorization' },
    },
  },
};
