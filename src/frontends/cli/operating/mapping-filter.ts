import { didYouMean } from '../../../base/document/document.ts';
import { clearLine } from '../../../base/telemetry/telemetry.ts';
import type { CompiledMapping } from '../../../engine/mapping/mapping.ts';
import type { Cli } from '../command-line.ts';
import { type ConfigFlags, findConfigFile } from '../config-file.ts';
import { benchOf } from '../authoring/workbench.ts';

/** Ids named at most. */
const MAX_IDS = 10;

/** Says on stderr that no mapping has this id, and which one was probably meant; silent where one has it. */
export async function noteUnknownMapping(
  { terminal }: Cli,
  flags: ConfigFlags,
  asked: string | undefined,
): Promise<void> {
  if (asked === undefined) return;
  await using bench = benchOf(terminal, findConfigFile(terminal, flags), { mayLoadPlugins: () => false });
  const { generation } = await bench.load({ withoutTransforms: true });
  const text = generation && nearMappings(asked, generation.table.mappings);
  if (text !== undefined) terminal.err(clearLine(text));
}

/** The mapping that was meant by something that is no id; undefined where it is one. */
export function nearMappings(asked: string, mappings: readonly CompiledMapping[]): string | undefined {
  if (mappings.some(({ id }) => id === asked)) return undefined;
  const none = `no mapping has the id ${JSON.stringify(asked)}`;
  if (mappings.length === 0) return `${none}: there is no mapping`;
  const ids = mappings.map(({ id }) => id);
  const near = didYouMean(asked, ids);
  if (near !== undefined) return `${none}; did you mean ${near}?`;
  const more = ids.length > MAX_IDS ? ` and ${String(ids.length - MAX_IDS)} more` : '';
  return `${none}; the ids are ${ids.slice(0, MAX_IDS).join(', ')}${more}`;
}
