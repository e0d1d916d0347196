import { hooksAddress } from '../../../engine/config/config.ts';
import type { PathSettings } from '../../../engine/mapping/mapping.ts';
import type { Service } from '../../../service/startup/startup.ts';
import { signsUrl } from '../../../engine/verify/verify.ts';
import type { Terminal } from '../terminal.ts';
import { openTunnel, type Tunnel, type TunnelTool } from './tunnel.ts';

/** Opens a tunnel to the port of a running service, and prints the addresses that senders call. */
export async function openDevTunnel(
  terminal: Terminal,
  service: Service,
  wanted: TunnelTool | true,
): Promise<Tunnel> {
  const { settings } = service.generation.config;
  terminal.err('opening a tunnel');
  const tunnel = await openTunnel({
    port: Number(new URL(service.url).port),
    env: terminal.env,
    ...(wanted === true ? {} : { tool: wanted }),
    onProblem: (tool, problem) => terminal.err(`${tool}: ${problem}`),
  });
  terminal.err(addressLines(service, hooksAddress(tunnel.url, settings)).join('\n'));
  return tunnel;
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
