import type { LiveGeneration } from '../generation/generation.ts';
import type { Sandbox, SandboxEvent } from '../sandbox/sandbox.ts';
import type { Log } from '../telemetry/telemetry.ts';

/** The sandbox runs with the protections a platform has; what is missing is said where a transform is used. */
export function sayMissingWalls(log: Log, live: LiveGeneration, sandbox: Sandbox): void {
  if (live.generation.transforms.hashes.size === 0) return;
  const missing = sandbox.protections.filter(({ present }) => !present).map(({ name }) => name);
  if (missing.length > 0) log.warn({ missing }, 'this platform lacks protections of the transform sandbox');
}

/** What operators should know of the processes that run transforms; nothing of a payload is in it. */
export function logSandboxEvent(log: Log, event: SandboxEvent): void {
  const { kind, ...fields } = event;
  if (kind === 'breaker-closed' || kind === 'call-replayed') log.info(fields, kind);
  else log.warn(fields, kind);
}
