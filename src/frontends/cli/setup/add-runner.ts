import { randomBytes } from 'node:crypto';
import { dirname, relative, resolve } from 'node:path';
import { shellWord } from '../../../engine/config/facts.ts';
import { findCasesFolder, loadSettings, type ConfigFlags } from '../config-file.ts';
import { CliError, type Terminal } from '../terminal.ts';
import { secretFileOf } from './add-plan.ts';
import { editConfig, writePlan, type SetupPlan } from './write-plan.ts';

export interface AddRunnerFlags extends ConfigFlags {
  readonly worker?: boolean;
}

/** Writes a runner whose runs workers ask for, makes its token, and says what to run on the other machine. */
export async function addRunner(
  terminal: Terminal,
  names: readonly string[],
  flags: AddRunnerFlags,
): Promise<void> {
  const [name = ''] = names;
  if (names.length !== 1 || !/^[A-Za-z0-9][\w-]{0,62}$/.test(name))
    throw new CliError(
      `name one runner, in letters, digits, "-" and "_": sluice runners add laptop --worker`,
      2,
    );
  if (flags.worker !== true)
    throw new CliError('say --worker: a runner of another kind is written into gateway.runners by hand', 2);
  const { settings, file } = await loadSettings(terminal, flags);
  const { gateway, server } = settings;
  if (Object.hasOwn(gateway.runners, name))
    throw new CliError(
      `there is a runner ${name}: choose another name, or add a second token to it by hand`,
      2,
    );
  const root = dirname(file);
  const token = secretFileOf(`worker-${name}`);
  const plan: SetupPlan = {
    files: [],
    secrets: [{ file: token, value: randomBytes(32).toString('hex') }],
    edits: [{ path: ['gateway', 'runners', name], value: { kind: 'worker', tokens: [{ file: token }] } }],
    steps: [],
  };
  await writePlan(terminal, plan, { root, mappings: '', cases: findCasesFolder(terminal, flags, undefined) });
  await editConfig(terminal, file, plan);
  await loadSettings(terminal, flags);
  const address =
    gateway.workers?.listen === undefined
      ? (server.publicUrl ?? 'https://YOUR-ADDRESS')
      : 'https://ADDRESS-OF-WORKERS';
  const shown = shellWord(relative(terminal.cwd, resolve(root, token)));
  terminal.out(`
Restart the service, or send it SIGHUP. A mapping gives its runs to this runner with "runner: ${name}".
Copy ${shown} to the other machine, as a file "token" that only you can read, and run there:
  sluice worker ${shellWord(address)} --token-file token --agent claude`);
}
