import { HookError, type HookErrorCode } from '../../../base/errors.ts';
import { StorageError, type StorageErrorCode } from '../storage-error.ts';

/** An error on its way between threads. */
export interface SerializedError {
  readonly family: 'hook' | 'storage';
  readonly code: string;
  readonly message: string;
  readonly retryAfterSeconds?: number;
}

export function serializeError(error: unknown, explain: (error: unknown) => StorageError): SerializedError {
  if (error instanceof HookError) {
    const { code, detail, retryAfterSeconds } = error;
    return {
      family: 'hook',
      code,
      message: detail,
      ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    };
  }
  const { code, message } = explain(error);
  return { family: 'storage', code, message };
}

export function deserializeError(serialized: SerializedError): HookError | StorageError {
  if (serialized.family === 'storage') return storageErrorOf(serialized);
  return new HookError(
    serialized.code as HookErrorCode,
    serialized.message,
    serialized.retryAfterSeconds === undefined ? {} : { retryAfterSeconds: serialized.retryAfterSeconds },
  );
}

export function storageErrorOf({ code, message }: SerializedError): StorageError {
  return new StorageError(code as StorageErrorCode, message);
}

const WAITS_FOR_OPERATOR: ReadonlySet<StorageErrorCode> = new Set(['disk_full', 'replaced', 'corrupt']);

/** What a sender is told when its request could not be stored; the reason is for the log. */
export function unavailable(cause: StorageError): HookError {
  if (cause.code === 'unreadable') return new HookError('invalid_field', cause.message);
  return new HookError('storage_unavailable', 'the store cannot take requests at the moment', {
    retryAfterSeconds: WAITS_FOR_OPERATOR.has(cause.code) ? 30 : 2,
    cause,
  });
}
