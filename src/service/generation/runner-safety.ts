/* Runners that start a command: what makes them unsafe, and what advice looks at. */
import { dirname } from 'node:path';
import type { LoadedConfig } from '../../engine/config/config.ts';
import type { Finding } from '../../base/document/document.ts';
import { quoted, say } from '../../base/finding.ts';
import { isWithin, MAY_CHANGE, runnerProblems } from '../runners/runners.ts';
import type { GenerationSubjects } from './facts.ts';

/** Where a runner is written: under its name, or at `gateway.runner` itself. */
export function runnerPath(root: LoadedConfig['root'], name: string): readonly string[] {
  const path = ['gateway', 'runners', name];
  return root.at(path).value === undefined ? ['gateway', 'runner'] : path;
}

/** The runners that start a command. */
export function runnerSubjects(
  { settings, root, file }: LoadedConfig,
  host: NodeJS.ProcessEnv,
): readonly GenerationSubjects['runner'][] {
  return Object.entries(settings.gateway.runners).flatMap(([name, runner]) =>
    runner.kind !== 'command' && runner.kind !== 'agent'
      ? []
      : [{ kind: 'runner', runner, root, path: runnerPath(root, name), configDir: dirname(file), host }],
  );
}

/** Finds agents that work in the folder of the configuration, and could change what they are allowed to do. */
export function findUnsafeRunners(config: LoadedConfig): readonly Finding[] {
  const { settings, root, file } = config;
  const ofRunners = runnerSubjects(config, {}).flatMap(({ runner, path, configDir }) => {
    const hasCwd = root.at([...path, 'cwd']).value !== undefined;
    const place = { at: path.join('.'), hasCwd, configDir };
    return runnerProblems(runner, place).map(({ key, message, ...found }) => ({
      ...found,
      message: quoted(message),
      isOfSafety: true,
      at: root.place(key === undefined ? path : [...path, key]),
    }));
  });
  const ofMappings = Object.entries(settings.gateway.workFolders)
    .filter(([, folder]) => isWithin(dirname(file), folder))
    .map(([name]): Finding => ({
      severity: 'warning',
      code: 'RUNNER_FOLDER',
      isOfSafety: true,
      message: say`this folder holds the configuration: ${MAY_CHANGE}`,
      at: root.place(['gateway', 'workFolders', name]),
      facts: { of: 'workFolders' },
    }));
  return [...ofRunners, ...ofMappings];
}
