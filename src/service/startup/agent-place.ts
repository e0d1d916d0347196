import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Settings } from '../../engine/config/config.ts';
import { codeOf, type Log } from '../../base/telemetry/telemetry.ts';

const ID = /^[\da-f-]{36}$/;

/**
 * The id of the disk on which coding agents keep their conversations: services that share the folder share the id.
 * Undefined where no runner is a coding agent, or the folder cannot be written.
 */
export function agentPlace({ gateway }: Settings, log: Pick<Log, 'warn'>): string | undefined {
  const agent = Object.values(gateway.runners).find((runner) => runner.kind === 'agent');
  if (agent === undefined) return undefined;
  // No runner has a folder whose name begins with a dot.
  const file = join(dirname(agent.sessions), '.place');
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    try {
      writeFileSync(file, randomUUID(), { flag: 'wx', mode: 0o600 });
    } catch (error) {
      // The folder is there, or another service was first.
      if (codeOf(error) !== 'EEXIST') throw error;
    }
    const id = readFileSync(file, 'utf8').trim();
    return ID.test(id) ? id : undefined;
  } catch (error) {
    log.warn(
      { file, code: codeOf(error) },
      'the folder of coding agents cannot be written: their conversations are not kept on one machine',
    );
    return undefined;
  }
}
