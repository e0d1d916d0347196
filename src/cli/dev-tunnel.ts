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
    say(terminal, service, `${tunnel.url}${hooks.path}`);
    return {
      stop: async () => {
        isStopping = true;
        await tunnel.stop();
        await gate.stop();
      },
    };
  } catch (error) {
    await gate.stop();
    throw error;
  }
}

function say(terminal: Terminal, { generation }: Service, address: string): void {
  const { table, config } = generation;
  const paths = [
    ...new Set(table.mappings.flatMap(({ match }) => (match.path === undefined ? [] : [match.path]))),
  ];
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
      ...(signing.length === 0 || config.settings.server.publicUrl !== undefined
        ? []
        : [
            `${signing.join(', ')}: set server.publicUrl to ${new URL(address).origin}, which this sender signs`,
          ]),
      '',
    ].join('\n'),
  );
}
