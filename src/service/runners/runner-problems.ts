/* What makes an agent that reads text from outside able to do more than it should. */
import type { Finding } from '../../base/finding.ts';
import type { RunnerSettings } from '../../engine/config/config.ts';
import { isWithin, workRootProblem } from './work-folder.ts';

type ProcessRunnerSettings = Extract<RunnerSettings, { readonly kind: 'command' | 'agent' }>;

interface RunnerPlace {
  /** The runner's place in the file, e.g. `gateway.runners.main`. */
  readonly at: string;
  readonly hasCwd: boolean;
}

/** What a finding about the safety of a runner says beside its place, by code. */
export interface RunnerFacts {
  RUNNER_FOLDER: {
    /** Whose folder it is: the root of the private ones, the runner's own, or one that mappings may choose. */
    readonly of: 'private' | 'runner' | 'workFolders';
    readonly runner?: RunnerPlace & { readonly kind: ProcessRunnerSettings['kind'] };
  };
  RUNNER_ACCESS: {
    /** Where an option loosens `access`; absent where `access: full` does. */
    readonly at?: string;
  };
}

export type RunnerProblem = Pick<Finding, 'severity'> & {
  /** The key below the runner that the problem is about. */
  readonly key?: 'cwd' | 'access' | 'argv';
  readonly message: string;
} & {
    [Code in keyof RunnerFacts]: { readonly code: Code; readonly facts: RunnerFacts[Code] };
  }[keyof RunnerFacts];

/** Finds what is unsafe about where an agent works and what it may do there. Looks at the disk. */
export function runnerProblems(
  runner: ProcessRunnerSettings,
  place: RunnerPlace & { readonly configDir: string },
): readonly RunnerProblem[] {
  return [...folderProblems(runner, place), ...accessProblems(runner, place)];
}

function folderProblems(
  { cwd, privateFolders, kind }: ProcessRunnerSettings,
  { at, hasCwd, configDir }: Parameters<typeof runnerProblems>[1],
): readonly RunnerProblem[] {
  const code = 'RUNNER_FOLDER';
  const facts = { runner: { at, hasCwd, kind } };
  if (privateFolders !== undefined) {
    const problem = workRootProblem(privateFolders, configDir);
    const message = `the private folder ${problem ?? ''}`;
    return problem === undefined
      ? []
      : [{ severity: 'error', code, message, facts: { of: 'private', ...facts } }];
  }
  if (cwd === undefined || !isWithin(configDir, cwd)) return [];
  const message = `the command works in a folder that holds the configuration: ${MAY_CHANGE}`;
  const key = hasCwd ? ({ key: 'cwd' } as const) : {};
  return [{ severity: 'warning', code, ...key, message, facts: { of: 'runner', ...facts } }];
}

/** What is said of a folder with the configuration. */
export const MAY_CHANGE = 'an agent that works here on text from outside can read and change it';

/** Arguments that say something else about permissions than `access` does. */
const PERMISSION_OPTIONS =
  /^(?:--(?:dangerously-[\w-]+|allow-dangerously-[\w-]+|permission-mode|yolo|approval-mode|sandbox|full-auto|auto)(?:=|$)|-[ys]$|(?:sandbox_mode|approval_policy)=)/;

/** Finds what loosens the access of an agent that reads texts of senders. */
function accessProblems(runner: ProcessRunnerSettings, { at }: RunnerPlace): readonly RunnerProblem[] {
  if (runner.kind !== 'agent') return [];
  const { access, agent, argv } = runner;
  const common = { severity: 'warning', code: 'RUNNER_ACCESS' } as const;
  if (access === 'full') {
    const message = `${agent} may do everything that the user of the service may, and it reads text from outside`;
    return [{ ...common, key: 'access', message, facts: {} }];
  }
  const option = argv.find((argument) => PERMISSION_OPTIONS.test(argument));
  if (option === undefined) return [];
  const message = `${option.slice(0, 80)} comes after the options of access: ${access}, and may allow more than they do`;
  return [{ ...common, key: 'argv', message, facts: { at } }];
}
