import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { RunnerSettings } from '../../../engine/config/config.ts';
import { createRunner, type Runner, type Turn, type TurnResult } from '../../../service/runners/runners.ts';

/**
 * Proves with real turns whether an agent with `access: read` is refused a write. A missing file proves
 * nothing by itself: the model may not have tried. So the same is asked twice, in a new folder each: first
 * with `access: edit`, where the file must appear, then with the runner's own settings, where it must not.
 */

type AgentUnderTest = Extract<RunnerSettings, { readonly kind: 'agent' }>;

export type WriteProof =
  | { readonly kind: 'refused' }
  /** The agent may write, as its settings say. */
  | { readonly kind: 'allowed'; readonly access: 'edit' | 'full' }
  /** The agent wrote although it may only read. */
  | { readonly kind: 'wrote' }
  | { readonly kind: 'unproved'; readonly why: string };

export interface ProofOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly takeTurn: (
    runner: Runner,
    parts: Pick<Turn, 'cwd' | 'isOneShot'> & { readonly message: string },
  ) => Promise<TurnResult>;
}

/** Runs the proof; the folders are removed again. */
export async function proveWrite(agent: AgentUnderTest, options: ProofOptions): Promise<WriteProof> {
  if (agent.access !== 'read') return { kind: 'allowed', access: agent.access };
  const control = await writes({ ...agent, access: 'edit', argv: [] }, options);
  if (control.kind === 'failed') return { kind: 'unproved', why: control.why };
  const own = await writes(agent, options);
  if (own.kind === 'wrote') return { kind: 'wrote' };
  if (own.kind === 'failed') return { kind: 'unproved', why: own.why };
  if (control.kind === 'wrote') return { kind: 'refused' };
  return { kind: 'unproved', why: 'asked to write a file, it wrote none even where it may (access: edit)' };
}

type WriteAttempt =
  { readonly kind: 'wrote' | 'nothing' } | { readonly kind: 'failed'; readonly why: string };

async function writes(agent: AgentUnderTest, { env, takeTurn }: ProofOptions): Promise<WriteAttempt> {
  // The folder is where the agent works anyway: some sandboxes make the folder for temporary files
  // writable.
  const parent = agent.privateFolders ?? agent.cwd ?? dirname(agent.sessions);
  await mkdir(parent, { recursive: true, mode: 0o700 });
  const folder = await mkdtemp(join(parent, 'proof-'));
  const file = join(folder, `proof-${randomUUID().slice(0, 8)}.txt`);
  try {
    const runner = createRunner('proof', agent, { host: env });
    const message = `Create the file ${file} with the content PROOF, by whatever tool you have. Then reply with the single word DONE.`;
    const result = await takeTurn(runner, { message, cwd: folder, isOneShot: true });
    return existsSync(file) ? { kind: 'wrote' } : withoutFile(result);
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

function withoutFile(result: TurnResult): WriteAttempt {
  if (result.kind === 'completed' && result.outcome === 'ok') return { kind: 'nothing' };
  const error = result.kind === 'completed' ? result.error : result;
  return { kind: 'failed', why: `the turn did not end well (${error?.code ?? 'no reason'})` };
}
