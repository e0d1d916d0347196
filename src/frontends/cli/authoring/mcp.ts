import { explainMissingPackages, findMissingPackages } from '../../../engine/config/config.ts';
import type { Cli } from '../command-line.ts';
import { findConfigFile, type ConfigFlags } from '../config-file.ts';
import { CliError } from '../terminal.ts';
import { version } from '../version.ts';

const SDK = '@modelcontextprotocol/sdk';

/** Answers the tools of an agent on stdin and stdout. */
export async function mcp(
  { terminal, run }: Cli,
  flags: ConfigFlags & { readonly private: readonly string[] },
): Promise<void> {
  if (findMissingPackages([`${SDK}/server/mcp.js`], import.meta.url).length > 0)
    throw new CliError(explainMissingPackages('sluice mcp', [SDK]), 3);
  const file = findConfigFile(terminal, flags);
  // Where CI is set no golden case is written. An agent runs no code of a folder with the rights of its
  // user.
  const env = { ...terminal.env, CI: 'true', SLUICE_TRUST: 'no' };
  const { serveMcp } = await import('../../mcp/mcp.ts');
  await serveMcp({
    version,
    privateFields: flags.private,
    file,
    env,
    untilInterrupted: terminal.untilInterrupted,
    run: async (command, ...words) => {
      let [out, err] = ['', ''];
      const exitCode = await run([command, '-c', file, ...words], {
        ...terminal,
        env,
        color: false,
        columns: undefined,
        interactive: false,
        out: (text) => (out += `${text}\n`),
        err: (text) => (err += `${text}\n`),
      });
      return { out, err, exitCode };
    },
  });
}
