import type { Exchange } from './exchange.ts';
import type { ServerContext } from './server-context.ts';

const ABSOLUTE_FORM = /^https?:\/\/[^/?#]*/i;
const HOST = /^[A-Za-z0-9.-]{1,253}(?::\d{1,5})?$|^\[[0-9A-Fa-f:.]{2,45}\](?::\d{1,5})?$/;

/**
 * The address as the sender called it, for senders that sign it: under `server.publicUrl`, else as a trusted proxy
 * says it, else as this machine listens. Never by the Host header alone, which the sender writes.
 */
export function signedUrl({ deps, proxies }: ServerContext, { req, headers }: Exchange): string {
  const target = (req.url ?? '').replace(ABSOLUTE_FORM, '');
  const { publicUrl } = deps.server;
  if (publicUrl !== undefined) return publicUrl.replace(/(?<!\/)\/+$/, '') + target;
  const { socket } = req;
  if (proxies.has(socket.remoteAddress ?? '')) {
    const scheme = lastOf(headers.values['x-forwarded-proto'])?.toLowerCase();
    const host = lastOf(headers.values['x-forwarded-host']) ?? headers.values['host'];
    if ((scheme === 'https' || scheme === 'http') && host !== undefined && HOST.test(host)) {
      return `${scheme}://${host}${target}`;
    }
  }
  const address = socket.localAddress ?? '';
  return `http://${address.includes(':') ? `[${address}]` : address}:${String(socket.localPort)}${target}`;
}

/** The entry that the proxy wrote which spoke to us. */
function lastOf(list: string | undefined): string | undefined {
  return list?.split(',').at(-1)?.trim();
}
