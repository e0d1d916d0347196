import { basename, join } from 'node:path';
import { printInLine } from '../../base/finding.ts';
import { formatPlace, type Finding } from '../../base/document/document.ts';
import { Drafts, Judge } from '../../authoring/workbench/workbench.ts';
import { MAPPING_FILE } from '../../engine/mapping/facts.ts';
import { type Answer, type McpDeps, readKept } from './mcp-deps.ts';

/** Findings that are shown. */
const MAX_FINDINGS = 20;

/** Loads the files with one of them as it would be, in a copy elsewhere, and compares what requests become. */
export async function tryMapping(
  deps: McpDeps,
  { file, text }: { readonly file: string; readonly text: string },
  signal: AbortSignal,
): Promise<Answer> {
  const { settings } = await deps.loadConfig();
  const { mappingsDir, transformsDir } = settings.hooks;
  const name = basename(file);
  if (!MAPPING_FILE.test(name))
    return { words: 'file is the name of a mapping file, such as github.yaml', isError: true };
  const kept = await readKept(deps);
  const judge = new Judge({
    ...deps,
    live: () => ({ id: 'files' }),
    storage: {
      listKeptRequests: () => Promise.resolve(kept),
      findGeneration: () => Promise.resolve(undefined),
    },
  });
  try {
    const path = join(mappingsDir, name);
    const found = { kind: 'mapping', name, path, real: path } as const;
    const draft = await new Drafts(judge).load({ mappingsDir, transformsDir }, { file: found, text, signal });
    // What a finding says may have names and values of what was sent; its code and place have none.
    const { findings } = draft;
    const shown = findings.slice(0, MAX_FINDINGS);
    const heads = [...shown.map(headOf), ...moreThan(findings.length)].join('\n');
    const words = findings.length === 0 ? 'No findings.' : `Findings:\n${heads}`;
    const said = shown.map(lineOf);
    if (draft.generation === undefined)
      return { words: `It would not be loaded.\n${words}`, external: said.join('\n') };
    const impact = await judge.impact(draft.generation, signal);
    await draft.release();
    if (impact === undefined)
      return {
        words: `${words}\nThe files as they are have errors, so there is nothing to compare with.`,
        external: said.join('\n'),
      };
    const { changes, kept: ofKept, golden } = impact;
    const counts = `Nothing was written. Of ${ofKept} kept requests and ${golden} golden cases, ${changes.length} would come out otherwise.`;
    const changed = changes.map((one) => `${one.kind} ${one.name}\n${one.difference}`);
    return { words: `${words}\n${counts}`, external: [...said, ...changed].join('\n') };
  } finally {
    await judge.stop();
  }
}

const headOf = ({ severity, code, at }: Finding): string =>
  `${severity} ${code}${at === undefined ? '' : ` (${formatPlace(at)})`}`;

const lineOf = (finding: Finding): string => `${finding.code}: ${printInLine(finding)}`;

const moreThan = (count: number): readonly string[] =>
  count > MAX_FINDINGS ? [`and ${count - MAX_FINDINGS} more`] : [];
