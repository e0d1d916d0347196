import { dirname, join } from 'node:path';
import { explainMissingPackages, findMissingPackages } from '../config/config.ts';
import type { Printed } from '../mcp/mcp.ts';
import type { Cli } from './command-line.ts';
import { defined } from '../json.ts';
import { findConfigFile, loadSettings, type ConfigFlags } from './config-file.ts';
import { createWorkshop } from './serve-console.ts';
import { CliError, exitCodeOf, type ExitCode } from './terminal.ts';
import { version } from './version.ts';

const SDK = '@modelcontextprotocol/sdk';

export interface McpFlags extends ConfigFlags {
  readonly private: readonly string[];
}

/** Answers the tools of an agent on stdin and stdout. */
export async function mcp({ terminal }: Cli, flags: McpFlags): Promise<void> {
  if (findMissingPackages([`${SDK}/server/mcp.js`], import.meta.url).length > 0)
    throw new CliError(explainMissingPackages('sluice mcp', [SDK]), 3);
  const file = findConfigFile(terminal, flags);
  // Where CI is set no golden case is written.
  const env = { ...terminal.env, CI: 'true' };
  const recorded = (command: (cli: Cli) => Promise<unknown>): Promise<Printed> =>
    record({ ...terminal, env, color: false, columns: undefined, interactive: false }, command);
  const config = { config: file };
  const { serveMcp } = await import('../mcp/mcp.ts');
  await serveMcp({
    version,
    privateFields: flags.private,
    goldenDir: join(dirname(file), 'test', 'golden'),
    loadConfig: () => loadSettings({ ...terminal, err: () => undefined }, config),
    openWorkshop: () => createWorkshop(file, env),
    untilInterrupted: terminal.untilInterrupted,
    check: () =>
      recorded(async (cli) => (await import('./check.ts')).check(cli, { ...config, format: 'pretty' })),
    test: (filter) =>
      recorded(async (cli) =>
        (await import('./test.ts')).test(cli, filter === undefined ? [] : [filter], {
          ...config,
          coverageFile: [],
          reporter: [],
        }),
      ),
    explain: (request, all) =>
      recorded(async (cli) => (await import('./explain.ts')).explain(cli, request, { ...config, all })),
    requests: ({ limit, mapping, state }) =>
      recorded(async (cli) => {
        const [{ list }, { requestsListing }] = [
          await import('./store-tasks.ts'),
          await import('./listings.ts'),
        ];
        return list(cli, { ...config, limit, ...defined({ mapping, state }) }, requestsListing);
      }),
  });
}

/** Runs a command on a terminal that keeps what is printed. */
async function record(terminal: Cli['terminal'], command: (cli: Cli) => Promise<unknown>): Promise<Printed> {
  let [out, err] = ['', ''];
  let exitCode: ExitCode = 0;
  const cli: Cli = {
    terminal: { ...terminal, out: (text) => (out += `${text}\n`), err: (text) => (err += `${text}\n`) },
    setExitCode: (code) => (exitCode = code),
    withConfig: (given) => given,
  };
  try {
    await command(cli);
  } catch (error) {
    exitCode = exitCodeOf(error);
    err += error instanceof Error ? error.message : String(error);
  }
  return { out, err, exitCode };
}
