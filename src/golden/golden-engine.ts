import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createHash } from 'node:crypto';
import { HookError } from '../errors.ts';
import type { Evaluation } from '../hook/hook.ts';
import type { HookRequest } from '../request.ts';
import type { Acceptor, GoldenEngine } from './run-cases.ts';
import { IDEMPOTENCY_TTL_SECONDS, openStorage } from '../storage/storage.ts';

/** Evaluates as the service does: a generation, or anything that has its `evaluate`. */
export interface Evaluator {
  evaluate(request: HookRequest, detail: 'full'): Evaluation | Promise<Evaluation>;
}

/** The service's own evaluator and store, for golden cases: no second implementation of either. */
export function createGoldenEngine(generation: Evaluator): GoldenEngine {
  return {
    evaluate: async (request) => generation.evaluate(request, 'full'),
    openAcceptor,
  };
}

/** A real store in a folder of its own, removed afterwards. */
async function openAcceptor(): Promise<Acceptor> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-golden-'));
  const storage = await openStorage(`sqlite:${join(folder, 'case.db')}`, { mode: 'performer', fsync: false });
  return {
    accept: async ({ request, idempotencyKey, bodyText }, evaluation) => {
      if (evaluation.outcome.kind !== 'accepted') return { duplicate: false, duplicates: [] };
      try {
        const result = await storage.accept({
          requestId: request.id,
          receivedAt: request.receivedAt,
          actions: evaluation.outcome.actions,
          warnings: evaluation.warnings,
          ...(idempotencyKey === undefined
            ? {}
            : {
                idempotency: {
                  scope: request.path,
                  key: idempotencyKey,
                  bodySha256: createHash('sha256').update(bodyText).digest('hex'),
                  ttlSeconds: IDEMPOTENCY_TTL_SECONDS,
                },
              }),
        });
        const duplicates = result.accepted.flatMap((action, index) => (action.duplicate ? [index] : []));
        return { duplicate: result.duplicate, duplicates: result.duplicate ? [] : duplicates };
      } catch (error) {
        if (!(error instanceof HookError)) throw error;
        return { duplicate: false, duplicates: [], error: { status: error.status, code: error.code } };
      }
    },
    close: async () => {
      await storage.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
