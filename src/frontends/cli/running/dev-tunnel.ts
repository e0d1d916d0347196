import { messageOf } from '../../../base/errors.ts';
import { hooksAddress } from '../../../engine/config/config.ts';
import type { PathSettings } from '../../../engine/mapping/mapping.ts';
import type { Service } from '../../../service/startup/startup.ts';
import { signsUrl } from '../../../engine/verify/verify.ts';
import { pause } from '../../../base/timers/timers.ts';
import type { Terminal } from '../terminal.ts';
import { openTunnel, type TunnelTool } from './tunnel.ts';

const FIRST_WAIT_MS = 1_000;
const MAX_WAIT_MS = 60_000;

/** A tunnel that is opened again where its tool ends. */
export interface DevTunnel {
  /** Resolves when it is open and used for the first time. */
  readonly opened: Promise<void>;
  /** Idempotent. */
  stop(): Promise<void>;
}

interface DevTunnelOptions {
  readonly wanted: TunnelTool | true;
  /** Takes each address; the signal fires when it leads here no longer. */
  readonly onAddress: (origin: string, signal: AbortSignal) => Promise<void>;
}

/** Keeps a tunnel open to the port of a running service, and prints the addresses that senders call. */
export function startTunnel(
  terminal: Terminal,
  service: Service,
  { wanted, onAddress }: DevTunnelOptions,
): DevTunnel {
  const over = new AbortController();
  const { signal } = over;
  const { promise: opened, resolve, reject } = Promise.withResolvers<void>();
  const open = async (): Promise<void> => {
    terminal.err('opening a tunnel');
    const { url, ended } = await openTunnel({
      port: Number(new URL(service.url).port),
      env: terminal.env,
      ...(wanted === true ? {} : { tool: wanted }),
      onProblem: (tool, problem) => terminal.err(`${tool}: ${problem}`),
      signal,
    });
    const away = new AbortController();
    const isAway = ended.then(() => away.abort());
    const address = hooksAddress(url, service.generation.config.settings);
    terminal.err(addressLines(service, address).join('\n'));
    await onAddress(url, away.signal);
    resolve();
    await isAway;
    if (!signal.aborted) terminal.err('nothing comes through the tunnel any more: it has ended');
  };
  const keepOpen = async (): Promise<void> => {
    await open();
    for (let waitMs = FIRST_WAIT_MS; !signal.aborted; waitMs = Math.min(2 * waitMs, MAX_WAIT_MS)) {
      await pause(waitMs, signal);
      const openedAt = performance.now();
      if (!signal.aborted)
        await open().catch((error: unknown) => signal.aborted || terminal.err(messageOf(error)));
      if (performance.now() - openedAt > MAX_WAIT_MS) waitMs = FIRST_WAIT_MS / 2;
    }
  };
  const running = keepOpen().catch((error: unknown) => {
    over.abort();
    reject(error);
  });
  return {
    opened,
    stop: () => {
      over.abort();
      return running;
    },
  };
}

function addressLines({ generation }: Service, address: string): readonly string[] {
  const { table, config } = generation;
  const paths = [...table.paths];
  const signing = paths.filter((path) => signsAddress(table.settingsOf(path)));
  return [
    '',
    'Through the tunnel, senders reach the hooks:',
    ...paths.map((path) => `  Payload URL: ${address}/${path}   (${proofText(table.settingsOf(path))})`),
    ...(paths.length === 0 ? [`  Payload URL: ${address}/NAME`] : []),
    // Some senders sign the address they call, so the service must know it.
    ...(signing.length === 0 || config.settings.server.publicUrl !== undefined
      ? []
      : [
          `${signing.join(', ')}: set server.publicUrl to ${new URL(address).origin}, which this sender signs`,
        ]),
    '',
  ];
}

const proofText = ({ verify }: PathSettings): string =>
  verify === undefined ? 'asks for the hook token' : `proof: ${verify.settings.scheme}`;

const signsAddress = ({ verify }: PathSettings): boolean => verify !== undefined && signsUrl(verify.settings);
