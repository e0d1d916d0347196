import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ListeningAddress {
  readonly host: string;
  readonly port: number;
  /** `http://host:port`, without a slash at the end. */
  readonly url: string;
}

/**
 * Connections the system keeps until they are taken up. Beyond it a sender's first packet is dropped and sent again
 * only after a second; node's own 511 are gone in a moment under a flood. The system may allow less (`somaxconn`).
 */
const BACKLOG = 4_096;

/** Listens, or rejects with an error that names the setting: `server`, `metrics`. */
export function listen(
  http: Server,
  { host, port }: { readonly host: string; readonly port: number },
  setting: string,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (error: NodeJS.ErrnoException): void => {
      const problem = `cannot listen on ${host} port ${port}: ${reasonOf(error, setting)}`;
      reject(new Error(problem, { cause: error }));
    };
    http.once('error', fail);
    http.listen({ port, host, backlog: BACKLOG }, () => {
      http.off('error', fail);
      resolve();
    });
  });
}

function reasonOf({ code, message }: NodeJS.ErrnoException, setting: string): string {
  return code === 'EADDRINUSE'
    ? `another program listens there; choose another ${setting}.port`
    : `the system says ${code ?? message}; check ${setting}.host and ${setting}.port`;
}

export function listeningAddress(http: Server): ListeningAddress {
  const { address: host, port, family } = http.address() as AddressInfo;
  return { host, port, url: `http://${family === 'IPv6' ? `[${host}]` : host}:${port}` };
}
