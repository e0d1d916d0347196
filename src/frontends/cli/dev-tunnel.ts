import { hooksAddress } from '../../engine/config/config.ts';
import type { PathSettings } from '../../engine/mapping/mapping.ts';
import { openHookGate } from '../../service/server/server.ts';
import type { Service } from '../../service/startup/startup.ts';
import { signsUrl } from '../../engine/verify/verify.ts';
import type { Terminal } from './terminal.ts';
import { openTunnel, type Tunnel, type TunnelTool } from './tunnel.ts';

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
    return await openBehind(gate, terminal, { service, wanted });
  } catch (error) {
    await gate.stop();
    throw error;
  }
}

/** Opens the tunnel to the gate that lets only hooks through. */
async function openBehind(
  gate: Awaited<ReturnType<typeof openHookGate>>,
  terminal: Terminal,
  { service, wanted }: { service: Service; wanted: TunnelTool | true },
): Promise<DevTunnel> {
  const tunnel = await openAloud(terminal, gate.port, wanted);
  let isStopping = false;
  void tunnel.ended.then(() => {
    if (!isStopping) terminal.err(`${tunnel.tool} has ended: nothing comes through the tunnel any more`);
  });
  say(terminal, service, hooksAddress(tunnel.url, service.generation.config.settings));
  const stop = async (): Promise<void> => {
    isStopping = true;
    await tunnel.stop();
    await gate.stop();
  };
  return { stop };
}

/** Says what goes wrong with a tool before another is tried. */
function openAloud(terminal: Terminal, port: number, wanted: TunnelTool | true): Promise<Tunnel> {
  terminal.err('opening a tunnel');
  return openTunnel({
    port,
    env: terminal.env,
    ...(wanted === true ? {} : { tool: wanted }),
    onProblem: (tool, problem) => terminal.err(`${tool}: ${problem}`),
  });
}

function say(terminal: Terminal, { generation }: Service, address: string): void {
  const { table, config } = generation;
  const paths = [...table.paths];
  const signing = paths.filter((path) => signsAddress(table.settingsOf(path)));
  terminal.err(
    [
      '',
      'Through the tunnel, only the hooks can be reached:',
      ...paths.map((path) => `  Payload URL: ${address}/${path}   (${proofText(table.settingsOf(path))})`),
      ...(paths.length === 0 ? [`  Payload URL: ${address}/NAME`] : []),
      ...addressNote(signing, config.settings.server.publicUrl, address),
      '',
    ].join('\n'),
  );
}

function proofText({ verify }: PathSettings): string {
  return verify === undefined ? 'asks for the hook token' : `proof: ${verify.settings.scheme}`;
}

function signsAddress({ verify }: PathSettings): boolean {
  return verify !== undefined && signsUrl(verify.settings);
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
