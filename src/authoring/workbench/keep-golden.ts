/** Makes a stored request a golden case: its file, and what it becomes with the files as they are. */
import { realpath } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { displayName } from '../../base/document/document.ts';
import {
  applyPolicy,
  caseGroup,
  createGoldenEngine,
  maskProblem,
  readRequestFile,
  recordCase,
  runCase,
  unusedMasks,
} from '../golden/golden.ts';
import type { HookRequest } from '../../base/request.ts';
import type { Generation } from '../../service/generation/generation.ts';

export type KeptCase =
  | { readonly kind: 'kept'; readonly files: readonly string[]; readonly leftOut: readonly string[] }
  | { readonly kind: 'refused'; readonly problem: string };

interface GoldenOptions {
  readonly dir: string;
  readonly masks: readonly string[];
  readonly secrets: readonly string[];
  /** Absent where the files have errors; then only the request is written. */
  readonly generation: Generation | undefined;
}

export async function keepAsGolden(
  request: HookRequest,
  { dir, masks, secrets, generation }: GoldenOptions,
): Promise<KeptCase> {
  const problem = masks.map(maskProblem).find((found) => found !== undefined);
  if (problem !== undefined) return refused(problem);
  if (!(await staysInside(dir, request.path)))
    return refused(`the folder of this hook name in ${displayName(dir)} is a link that leads out of it`);
  const [unused] = unusedMasks(request, masks);
  if (unused !== undefined)
    return refused(`nothing was written: the request has nothing to mask at ${unused}`);
  const { file, leftOut } = await recordCase(request, { dir, masks, secrets });
  const { case: golden } = await readRequestFile(file);
  if (golden === undefined || generation === undefined)
    return { kind: 'kept', files: [displayName(file)], leftOut };
  const result = await applyPolicy(await runCase(golden, createGoldenEngine(generation)), 'new');
  return { kind: 'kept', files: [displayName(file), displayName(result.case.expectedFile)], leftOut };
}

const refused = (problem: string): KeptCase => ({ kind: 'refused', problem });

/** A link inside the folder could lead anywhere. */
async function staysInside(dir: string, path: string): Promise<boolean> {
  const root = await realpath(dir).catch(() => undefined);
  const real = await realpath(join(dir, caseGroup(path))).catch(() => undefined);
  return root === undefined || real === undefined || real.startsWith(root + sep);
}
