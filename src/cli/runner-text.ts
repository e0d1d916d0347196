import type { AgentAction } from '../action.ts';
import type { GatewaySettings, RunnerSettings } from '../config/config.ts';
import { runnerNamed } from '../explanation/explanation.ts';

/** The runner of an action, and what it is; of what the store says it may hold signs that a terminal obeys. */
export function runnerText({ runner: own }: AgentAction, gateway: GatewaySettings): string {
  const name = own ?? gateway.runner;
  const runner = runnerNamed(gateway, name);
  return runner === undefined
    ? `${name}, which the configuration no longer has`
    : `${name}: ${describeRunner(runner)}`;
}

/** What a runner starts or calls; nothing of its environment and keys. */
function describeRunner(runner: RunnerSettings): string {
  switch (runner.kind) {
    case 'command':
      return `command ${runner.argv.join(' ')}, in ${runner.cwd ?? 'a private folder of the conversation (cwd: private)'}`;
    case 'model':
      return `model, providers ${Object.keys(runner.providers).join(', ')}`;
    case 'forward':
      return `forward to ${new URL(runner.url).origin}`;
    case 'openclaw':
      return `openclaw, command ${runner.command}`;
    case 'agent':
      return `agent ${runner.agent}`;
    case 'echo':
      return 'echo, which answers with the message itself';
  }
}
