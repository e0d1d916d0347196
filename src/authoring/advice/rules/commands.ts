import { relative } from 'node:path';
import { quoted, say } from '../../../base/finding.ts';
import type { GenerationSubjects } from '../../../service/generation/facts.ts';
import { isWithin } from '../../../service/runners/runners.ts';
import { findStartProblem, listText } from '../commands.ts';
import type { LookFinding, Look, Rules } from '../rule.ts';

type RunnerSubject = GenerationSubjects['runner'];

/** A program that cannot be started. */
function notStartable(subject: RunnerSubject): readonly LookFinding[] {
  const { runner, configDir, host } = subject;
  const isAgent = runner.kind === 'agent';
  const argv = isAgent ? [runner.command] : runner.argv;
  const [program = ''] = argv;
  const path = runner.env['PATH'] ?? host['PATH'];
  const wrong = program === '' || /^\S*\{\S*$/.test(program) ? undefined : findStartProblem(argv, path);
  if (wrong === undefined) return [];
  const name = (isWithin(program, configDir) ? `./${relative(configDir, program)}` : program).slice(0, 80);
  const { problem, remedy, argv: mended } = wrong;
  const at = subject.root.place([...subject.path, isAgent ? 'kind' : 'argv']);
  const written = at.source.text.slice(at.start, at.end);
  // A list in a block ends with its line, and the value behind a reference is never written.
  const isFree = !written.startsWith('-') && !written.includes('${');
  return [
    {
      message: say`the command ${name.includes(' ') ? `"${name}"` : name} cannot be started: ${problem}`,
      at,
      hint: quoted(
        mended === undefined
          ? `${remedy} (${subject.path.join('.')}.${isAgent ? 'command' : 'argv'}); runs wait until it can be started`
          : remedy,
      ),
      ...(mended !== undefined && isFree && { edit: { at, text: listText(mended) } }),
    },
  ];
}

export const COMMANDS: readonly Look[] = [{ on: 'runner', codes: ['COMMAND_NOT_FOUND'], find: notStartable }];

export const RUNNER_SAFETY: Rules = {
  RUNNER_FOLDER: [
    ({ of, runner: { at, hasCwd, kind } = {} }) => {
      if (of === 'workFolders') return 'name a folder outside of it, such as a checkout of its own';
      if (of === 'private') return `or name another folder with cwd, below ${at ?? ''}`;
      const rest = kind === 'agent' ? ', or leave cwd out' : '';
      return `${hasCwd === true ? `write cwd: private at ${at ?? ''}.cwd` : `add cwd: private to ${at ?? ''}`}${rest}`;
    },
  ],
  RUNNER_ACCESS: [
    ({ at }) =>
      at === undefined
        ? 'write access: read, or edit; or run the service in a container of its own'
        : `remove it from ${at}.argv, and let access say the same: read, edit or full`,
  ],
};
