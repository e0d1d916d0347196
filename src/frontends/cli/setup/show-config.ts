import { formatPath } from '../../../base/document/facts.ts';
import { clearLine } from '../../../base/telemetry/telemetry.ts';
import type { Cli } from '../command-line.ts';
import { type JsonFlags, loadSettings } from '../config-file.ts';
import { printJson } from '../json.ts';
import { formatTable } from '../terminal.ts';

/** Prints what works, setting by setting, and where it comes from. */
export async function showConfig({ terminal }: Cli, flags: JsonFlags): Promise<void> {
  const { effective } = await loadSettings(terminal, flags);
  const settings = effective()
    .map(({ path, ...rest }) => ({ key: formatPath(path), ...rest }))
    .toSorted((a, b) => (a.key < b.key ? -1 : 1));
  if (flags.json === true) return printJson(terminal, 'config show', { settings });
  const rows = settings.map(({ key, from, value }) => [key, clearLine(from), clearLine(String(value))]);
  terminal.out(formatTable(['setting', 'from', 'value'], rows, { columns: terminal.columns }));
}
