/** What can hold memory out of the limit's sight, observe collection, share memory, or tell of another call. */
const REMOVED = [
  'WebAssembly',
  'SharedArrayBuffer',
  'Atomics',
  'WeakRef',
  'FinalizationRegistry',
  'Temporal',
];

export function removeGlobals(): void {
  for (const name of REMOVED) Reflect.deleteProperty(globalThis, name);
  // The statics hold pieces of the text matched last, which may be another call's.
  const kept = new Set(['length', 'name', 'prototype', 'escape']);
  for (const key of Reflect.ownKeys(RegExp)) {
    if (typeof key === 'string' && !kept.has(key)) Reflect.deleteProperty(RegExp, key);
  }
}

/** Defines a global as the language defines its own; the bundler may have given a class another name. */
export function installGlobal(name: string, value: unknown): void {
  if (typeof value === 'function') Object.defineProperty(value, 'name', { value: name, configurable: true });
  Object.defineProperty(globalThis, name, { value, writable: true, enumerable: false, configurable: true });
}
