import { openHookGate } from '../server/server.ts';
import type { Service } from '../service/service.ts';
import { signsUrl } from '../verify/verify.ts';
import type { Terminal } from './terminal.ts';
import { openTunnel, type TunnelTool } from './tunnel.ts';

export interface DevTunnel {
  /** Idempotent. */
  stop(): Promise<void>;
}

/** Opens a tunnel to the hooks of a running service, and says the addresses that senders call. */
export async function openDevTunnel(
  terminal: Terminal,
  service: Service,
  wanted: TunnelTool | true,
): Promise<DevTunnel> {
  const { hooks } = service.generation.config.settings;
  const gate = await openHookGate({ service: new URL(service.url), hooksPath: hooks.path });
  try {
    return await openBehind(gate, terminal, { service, wanted, hooksPath: hooks.path });
  } catch (error) {
    await gate.stop();
    throw error;
  }
}

/** Opens the tunnel to the gate that lets only hooks through. */
async function openBehind(
  gate: Awaited<ReturnType<typeof openHookGate>>,
  terminal: Terminal,
  { service, wanted, hooksPath }: { service: Service; wanted: TunnelTool | true; hooksPath: string },
): Promise<DevTunnel> {
  terminal.err('opening a tunnel');
  const tunnel = await openTunnel({
    port: gate.port,
    env: terminal.env,
    ...(wanted === true ? {} : { tool: wanted }),
    onProblem: (tool, problem) => terminal.err(`${tool}: ${problem}`),
  });
  let isStopping = false;
  void tunnel.ended.then(() => {
    if (!isStopping) terminal.err(`${tunnel.tool} has ended: nothing comes through the tunnel any more`);
  });
  say(terminal, service, `${tunnel.url}${hooksPath}`);
  return {
    stop: async () => {
      isStopping = true;
      await tunnel.stop();
      await gate.stop();
    },
  };
}

function say(terminal: Terminal, { generation }: Service, address: string): void {
  const { table, config } = generation;
  const paths = pathsOf(table);
  const proofOf = (path: string): string => {
    const { verify } = table.settingsOf(path);
    return verify === undefined ? 'asks for the hook token' : `proof: ${verify.settings.scheme}`;
  };
  const signing = paths.filter((path) => {
    const { verify } = table.settingsOf(path);
    return verify !== undefined && signsUrl(verify.settings);
  });
  terminal.err(
    [
      '',
      'Through the tunnel, only the hooks can be reached:',
      ...paths.map((path) => `  Payload URL: ${address}/${path}   (${proofOf(path)})`),
      ...(paths.length === 0 ? [`  Payload URL: ${address}/NAME`] : []),
      ...addressNote(signing, config.settings.server.publicUrl, address),
      '',
    ].join('\n'),
  );
}

/** The hook names that mappings take, each once. */
function pathsOf({ mappings }: Service['generation']['table']): readonly string[] {
  return [...new Set(mappings.flatMap(({ match }) => (match.path === undefined ? [] : [match.path])))];
}

/** Some senders sign the address they call: it has to be known here. */
function addressNote(
  signing: readonly string[],
  publicUrl: string | undefined,
  address: string,
): readonly string[] {
  if (signing.length === 0 || publicUrl !== undefined) return [];
  const { origin } = new URL(address);
  return [`${signing.join(', ')}: set server.publicUrl to ${origin}, which this sender signs`];
}
