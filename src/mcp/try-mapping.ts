import { basename, join } from 'node:path';
import { Drafts, Judge, type ShownFinding } from '../console/console.ts';
import { MAPPING_FILE } from '../mapping/facts.ts';
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
    const findings = draft.findings.map(lineOf);
    const shown = [...findings.slice(0, MAX_FINDINGS), ...moreThan(findings.length)];
    const words = findings.length === 0 ? 'No findings.' : `Findings:\n${shown.join('\n')}`;
    if (draft.generation === undefined) return { words: `It would not be loaded.\n${words}` };
    const impact = await judge.impact(draft.generation, signal);
    await draft.release();
    if (impact === undefined)
      return { words: `${words}\nThe files as they are have errors, so there is nothing to compare with.` };
    const { changes, kept: ofKept, golden } = impact;
    const counts = `Nothing was written. Of ${ofKept} kept requests and ${golden} golden cases, ${changes.length} would come out otherwise.`;
    const external = changes.map((one) => `${one.kind} ${one.name}\n${one.difference}`).join('\n');
    return { words: `${words}\n${counts}`, ...(changes.length > 0 && { external }) };
  } finally {
    await judge.stop();
  }
}

const lineOf = ({ severity, code, message, hint, place }: ShownFinding): string =>
  `${severity} ${code}: ${message}${place === undefined ? '' : ` (${place})`}${hint === undefined ? '' : `; ${hint}`}`;

const moreThan = (count: number): readonly string[] =>
  count > MAX_FINDINGS ? [`and ${count - MAX_FINDINGS} more`] : [];
