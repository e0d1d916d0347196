import type { RunnerSettings, Settings } from '../../engine/config/config.ts';
import { HEARTBEAT_OK, isAcknowledgement } from './acknowledgement.ts';
import { AGENT_PROFILES } from './agent-profiles.ts';
import { createAgentRunner } from './agent-runner.ts';
import { createCommandRunner, type CommandSurroundings, type HostEnvironment } from './command-runner.ts';
import { createForwardRunner } from './forward-runner.ts';
import { createModelRunner, type ModelRunnerOptions } from './model-runner.ts';
import { createOpenClawRunner } from './openclaw-runner.ts';
import { notStarted, type Runner } from './runner.ts';

export { HEARTBEAT_OK, isAcknowledgement };
export { createCommandRunner, type CommandSettings, type ExplainStart } from './command-runner.ts';
export { getsPromptFile } from './command-runner.ts';
export { endLeftTurn } from './command-workspace.ts';
export { modelProblems, unknownModel } from './model-problems.ts';
export { MAY_CHANGE, runnerProblems } from './runner-problems.ts';
export { isWithin, removeOldWorkFolders } from './work-folder.ts';
export { type GivenRun, workerProtocol, type WorkerQuestion } from './worker-protocol.ts';
export { RunWorker, WorkerRefused } from './run-worker.ts';
export { COST_UNKNOWN } from './agent-runner.ts';
export {
  type CompletedTurn,
  failedTurn,
  notStarted,
  type Runner,
  type RunnerOptions,
  type Turn,
  type TurnResult,
} from './runner.ts';

/** Whether the turns of a runner come with what they cost in money; those of echo cost nothing. */
export function tellsMoney(runner: RunnerSettings): boolean {
  return runner.kind === 'echo' || (runner.kind === 'agent' && AGENT_PROFILES[runner.agent].tellsMoney);
}

interface RunnerParts extends Partial<ModelRunnerOptions>, CommandSurroundings {
  readonly host: HostEnvironment;
}

/** Makes the runners of a configuration by name; nothing is started or loaded before a turn needs it. */
export function createRunners(
  settings: Pick<Settings, 'gateway' | 'agents'>,
  host: HostEnvironment,
  surroundings: CommandSurroundings = {},
): ReadonlyMap<string, Runner> {
  const defaultModel = settings.agents.defaults.model;
  return new Map(
    Object.entries(settings.gateway.runners).map(([name, runner]) => [
      name,
      createRunner(name, runner, { host, defaultModel, ...surroundings }),
    ]),
  );
}

/** Makes one runner; nothing is started or loaded before a turn needs it. */
export function createRunner(
  name: string,
  runner: RunnerSettings,
  { host, defaultModel, ...surroundings }: RunnerParts,
): Runner {
  switch (runner.kind) {
    case 'echo':
      return createEchoRunner();
    case 'command':
      return createCommandRunner(runner, host, surroundings);
    case 'model':
      return createModelRunner(runner, { defaultModel });
    case 'forward':
      return createForwardRunner(runner, name);
    case 'agent':
      return createAgentRunner(runner, host, surroundings);
    case 'openclaw':
      return createOpenClawRunner(runner, host, surroundings);
    case 'worker':
      return { kind: 'worker', run: () => Promise.resolve(NOT_HERE) };
  }
}

/** Nothing is started here: workers ask for its runs. */
const NOT_HERE = notStarted('not_configured', 'its turns are asked for by workers, and this one cannot be', {
  final: true,
});

/** A runner for trying things out: it replies with the message, and to a heartbeat with `HEARTBEAT_OK`. */
export function createEchoRunner(): Runner {
  return {
    kind: 'echo',
    isForgetful: true,
    run(turn) {
      const reply = turn.kind === 'heartbeat' ? HEARTBEAT_OK : turn.message;
      return Promise.resolve({ kind: 'completed', outcome: 'ok', reply });
    },
  };
}
