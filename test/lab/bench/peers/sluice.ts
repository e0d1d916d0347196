import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startServer, stopServer } from '../child.ts';
import { type Peer, peerFolder, removeFolder, TOKEN, TRANSFORM } from './peer.ts';

const CONFIG = `
hooks:
  enabled: true
  token: ${TOKEN}
  transformsDir: .
  mappings:
    - id: push
      match: {path: github}
      action: wake
      wakeMode: next-heartbeat
      textTemplate: "{{pusher.name}} pushed {{commits.length}} commit(s) to {{repository.full_name}}"
    - id: transformed
      match: {path: transformed}
      action: wake
      wakeMode: next-heartbeat
      transform: {module: ${TRANSFORM.file}}
log: {level: info}
gateway: {heartbeat: {everySeconds: 0}, events: {maxPending: 10000000}}
`;

/** This project, as built. */
export const sluice: Peer = {
  name: 'Sluice',
  does: 'token, template, boundary, event on disk before the answer',
  start: async () => {
    const folder = await peerFolder();
    await writeFile(join(folder, 'sluice.yaml'), CONFIG);
    await writeFile(join(folder, TRANSFORM.file), TRANSFORM.source);
    const main = fileURLToPath(new URL('../../../../dist/main.js', import.meta.url));
    const server = await startServer([main, 'serve', '-c', join(folder, 'sluice.yaml'), '--port', '0']);
    return {
      port: server.port,
      path: '/hooks/github',
      transformPath: '/hooks/transformed',
      stop: async () => {
        await stopServer(server);
        await removeFolder(folder);
      },
    };
  },
};
