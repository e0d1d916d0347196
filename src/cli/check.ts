import { formatDiagnostics, type Diagnostic } from '../document/document.ts';
import { checkGeneration } from '../generation/generation.ts';
import { Sandbox } from '../sandbox/sandbox.ts';
import { clearControl } from '../telemetry/telemetry.ts';
import type { Cli } from './command-line.ts';
import { findConfigFile } from './config-file.ts';

export interface CheckFlags {
  readonly config?: string;
  readonly format: 'pretty' | 'json' | 'github' | 'sarif';
  /** The same as `--format json`. */
  readonly json?: boolean;
  readonly strict?: boolean;
}

/** Finds everything that is wrong before it is deployed: errors end with 1, with `--strict` warnings too. */
export async function check(cli: Cli, flags: CheckFlags): Promise<void> {
  const file = findConfigFile(cli.terminal, flags);
  const format = flags.json === true ? 'json' : flags.format;
  const sandbox = new Sandbox();
  try {
    const { diagnostics, summary, conversations, proofs, compiler } = await checkGeneration(file, {
      env: cli.terminal.env,
      needSecrets: false,
      sandbox,
    });
    const text = formatDiagnostics(diagnostics, { format, color: cli.terminal.color });
    if (text !== '') cli.terminal.out(text);
    if (format === 'pretty' && diagnostics.length === 0) cli.terminal.out(`no findings: ${summary}`);
    if (format === 'pretty')
      for (const line of [...conversations, ...proofs]) cli.terminal.out(clearControl(line));
    if (format === 'pretty' && compiler !== undefined) {
      cli.terminal.out(`types of transforms were checked by ${compiler}`);
    }
    if (diagnostics.some((diagnostic) => fails(diagnostic, flags))) cli.setExitCode(1);
  } finally {
    await sandbox.stop();
  }
}

const fails = (diagnostic: Diagnostic, flags: CheckFlags): boolean =>
  diagnostic.severity === 'error' || flags.strict === true;
