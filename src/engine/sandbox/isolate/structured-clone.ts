/** A copy by the rules of the structured clone algorithm, without transfer. */
export function cloneValue(value: unknown): unknown {
  return clone(value, new Map());
}

/** What was copied already, by its source: a value may refer to itself. */
type Copies = Map<object, unknown>;

function clone(source: unknown, copies: Copies): unknown {
  if (typeof source === 'symbol') return refuse('A symbol');
  if (typeof source === 'function') return refuse('A function');
  if (typeof source !== 'object' || source === null) return source;
  if (copies.has(source)) return copies.get(source);
  if (source instanceof Map || source instanceof Set) return cloneCollection(source, copies);
  if (source instanceof Date) return remember(copies, source, new Date(source.getTime()));
  if (source instanceof RegExp) return remember(copies, source, new RegExp(source.source, source.flags));
  if (source instanceof ArrayBuffer) return remember(copies, source, source.slice(0));
  if (ArrayBuffer.isView(source)) return remember(copies, source, cloneView(source, copies));
  if (source instanceof Error) return remember(copies, source, cloneError(source));
  if (source instanceof Promise || source instanceof WeakMap || source instanceof WeakSet) {
    return refuse('This object');
  }
  return cloneProperties(source, copies);
}

function refuse(what: string): never {
  const error = new Error(`${what} could not be cloned.`);
  error.name = 'DataCloneError';
  throw error;
}

function remember<T>(copies: Copies, source: object, copy: T): T {
  copies.set(source, copy);
  return copy;
}

function cloneCollection(source: Map<unknown, unknown> | Set<unknown>, copies: Copies): unknown {
  if (source instanceof Map) {
    const copy = remember(copies, source, new Map());
    for (const [key, held] of source) copy.set(clone(key, copies), clone(held, copies));
    return copy;
  }
  const copy = remember(copies, source, new Set());
  for (const held of source) copy.add(clone(held, copies));
  return copy;
}

function cloneProperties(source: object, copies: Copies): unknown {
  const copy: Record<string, unknown> = remember(
    copies,
    source,
    Array.isArray(source) ? Array.from<unknown>({ length: source.length }) : {},
  );
  for (const key of Object.keys(source)) {
    const value = clone((source as Record<string, unknown>)[key], copies);
    Object.defineProperty(copy, key, { value, writable: true, enumerable: true, configurable: true });
  }
  return copy;
}

function cloneView(view: ArrayBufferView, copies: Copies): unknown {
  const make = view.constructor as new (buffer: unknown, offset: number, length: number) => unknown;
  const length = (view as { length?: number }).length ?? view.byteLength;
  return new make(clone(view.buffer, copies), view.byteOffset, length);
}

const ERROR_KINDS = [EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError];

function cloneError(error: Error): Error {
  const kind = ERROR_KINDS.find((one) => one.name === error.name) ?? Error;
  const copy = new kind(error.message);
  if (typeof error.stack === 'string') copy.stack = error.stack;
  return copy;
}
