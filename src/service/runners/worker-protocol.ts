/* What a service and a worker say to each other, as JSON: `docs/http.md` describes it for those who write a worker. */
import * as z from 'zod';
import type { SafeText } from '../../base/action.ts';
import type { Turn } from './runner.ts';

const id = z.string().regex(/^[\w-]{8,64}$/, { error: 'an id of 8 to 64 letters, digits, _ and -' });
const code = z.string().regex(/^[a-z][a-z0-9_]{0,63}$/, { error: 'a code such as exit_1' });
const message = z.string().max(20_000);
const count = z.number().min(0);

/** The question for a run. */
const takeSchema = z.object({
  /** A name to show. */
  worker: z
    .string()
    .transform((name) => name.replaceAll(/[^\w .@-]/g, '_').slice(0, 64))
    .default(''),
  waitSeconds: count.default(25),
  /** The id of the attempt, so that a question whose answer was lost can be asked again. */
  attempt: id.optional(),
  access: z.enum(['read', 'edit', 'full']).optional(),
});

const renewSchema = z.object({ attempt: id });

/** How a turn ended, as a `TurnResult`; `interrupted`: it had begun, and the worker does not know. */
const endSchema = z.discriminatedUnion('kind', [
  z.object({
    attempt: id,
    kind: z.literal('completed').default('completed'),
    /** Default `error` where there is one, else `ok`. */
    outcome: z.enum(['ok', 'error', 'timeout']).optional(),
    reply: z.string().default(''),
    error: z.object({ code, message }).exactOptional(),
    usage: z
      .object({
        inputTokens: count.exactOptional(),
        outputTokens: count.exactOptional(),
        costUsd: count.exactOptional(),
        isCostUnknown: z.literal(true).exactOptional(),
      })
      .exactOptional(),
    note: z.string().max(2_000).exactOptional(),
  }),
  z.object({
    attempt: id,
    kind: z.literal('not-started'),
    code,
    message,
    retryAfterMs: count.exactOptional(),
    affects: z.enum(['runner', 'model']).exactOptional(),
    final: z.boolean().default(false),
  }),
  z.object({ attempt: id, kind: z.literal('interrupted') }),
]);

/** What a worker that has proved itself asks; `body` is what it sent, read as JSON. */
export interface WorkerQuestion {
  readonly runner: string;
  readonly runId: string | undefined;
  readonly action: 'take' | 'renew' | 'finish';
  readonly body: unknown;
  /** Aborts when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
}

/** A run as a worker gets it. Its turn has nothing of the service's own environment and folders. */
export interface GivenRun {
  readonly id: string;
  /** What the worker says with all that it says of the run. */
  readonly attempt: string;
  readonly leaseSeconds: number;
  readonly maxReplyBytes: number;
  /** The name of a folder to work in. */
  readonly folder?: string;
  readonly turn: Omit<Turn, 'message' | 'cwd' | 'keysAt' | 'deliverTo'>;
}

function givenTurn({
  message: _message,
  cwd: _cwd,
  keysAt: _at,
  deliverTo: _to,
  ...turn
}: Turn): GivenRun['turn'] {
  return turn;
}

const turnSchema = z.looseObject({
  runId: id,
  // An id, as it becomes the name of a file.
  sessionId: id,
  prompt: z.string().transform((text) => text as SafeText),
  timeoutSeconds: z.number().positive(),
  history: z.array(z.object({ role: z.enum(['user', 'assistant']), text: z.string(), at: z.number() })),
});

/** What a service answers to the question for a run. */
const takenSchema = z.object({
  runner: z.string(),
  run: z
    .object({
      id,
      attempt: id,
      leaseSeconds: z.number().min(1),
      maxReplyBytes: z.number().min(1),
      folder: z.string().exactOptional(),
      // A service that lies must not choose a folder of the worker.
      turn: turnSchema.transform((turn) => givenTurn(turn as unknown as Turn)),
    })
    .nullable(),
});

export const workerProtocol = { takeSchema, renewSchema, endSchema, takenSchema, givenTurn };
