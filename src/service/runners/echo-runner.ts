import { HEARTBEAT_OK } from './acknowledgement.ts';
import type { Runner } from './runner.ts';

/** A runner for trying things out: it replies with the message, and to a heartbeat with `HEARTBEAT_OK`. */
export function createEchoRunner(): Runner {
  return {
    kind: 'echo',
    isForgetful: true,
    run(turn) {
      const reply = turn.kind === 'heartbeat' ? HEARTBEAT_OK : turn.message;
      return Promise.resolve({ kind: 'completed', outcome: 'ok', reply });
    },
  };
}
