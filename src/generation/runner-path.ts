import type { LoadedConfig } from '../config/config.ts';

/** Where a runner is written: under its name, or at `gateway.runner` itself. */
export function runnerPath(root: LoadedConfig['root'], name: string): readonly string[] {
  const path = ['gateway', 'runners', name];
  return root.at(path).value === undefined ? ['gateway', 'runner'] : path;
}
