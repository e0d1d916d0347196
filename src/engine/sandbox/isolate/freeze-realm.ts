/** Freezes every object reachable from the globals and from `roots`, and the globals themselves. */
export function freezeRealm(roots: readonly unknown[]): void {
  const seen = new Set<object>();
  const waiting: object[] = [];
  const add = (value: unknown) => {
    if ((typeof value !== 'object' && typeof value !== 'function') || value === null || seen.has(value))
      return;
    seen.add(value);
    waiting.push(value);
  };
  for (const [prototype, keys] of shadowedProperties()) {
    for (const key of keys) {
      // Behind the accessor nothing but this walk would come to the value.
      add(Reflect.getOwnPropertyDescriptor(prototype, key)?.value);
      letShadow(prototype, key);
    }
  }
  for (const root of [...unnamedIntrinsics(), ...roots]) add(root);
  add(globalThis);
  for (let object = waiting.pop(); object !== undefined; object = waiting.pop()) {
    add(Reflect.getPrototypeOf(object));
    for (const key of Reflect.ownKeys(object)) {
      const property = Reflect.getOwnPropertyDescriptor(object, key);
      add(property?.value);
      add(property?.get);
      add(property?.set);
    }
  }
  for (const object of seen) if (object !== globalThis) Object.freeze(object);
  for (const key of Reflect.ownKeys(globalThis)) {
    const property = Reflect.getOwnPropertyDescriptor(globalThis, key);
    if (property?.configurable !== true) continue;
    const fixed = 'value' in property ? { writable: false, configurable: false } : { configurable: false };
    Object.defineProperty(globalThis, key, fixed);
  }
  Object.preventExtensions(globalThis);
}

/** Intrinsics that no global names. */
function unnamedIntrinsics(): unknown[] {
  const arrow = async () => undefined;
  const generator = function* () {};
  const asyncGenerator = async function* () {};
  const iterators = [
    [][Symbol.iterator](),
    new Map()[Symbol.iterator](),
    new Set()[Symbol.iterator](),
    ''[Symbol.iterator](),
    ''.matchAll(/a/g),
    ...iteratorHelpers(),
    generator(),
    asyncGenerator(),
    new Intl.Segmenter().segment(''),
    new Intl.Segmenter().segment('')[Symbol.iterator](),
  ];
  return [
    arrow,
    generator,
    asyncGenerator,
    ...iterators.map((iterator) => Reflect.getPrototypeOf(iterator)),
    Reflect.getPrototypeOf(Int8Array),
    ...stackAccessors(),
  ];
}

/** An error's own `stack` is an accessor in newer engines, and all errors of a realm share its two functions. */
function stackAccessors(): unknown[] {
  const captured = {};
  // V8's own; the language does not know it.
  (Error as unknown as { captureStackTrace(target: object): void }).captureStackTrace(captured);
  return [new Error(), captured].flatMap((holder) => {
    const property = Reflect.getOwnPropertyDescriptor(holder, 'stack');
    return [property?.get, property?.set];
  });
}

/** Iterators of the two hidden kinds that newer engines have: `.map` and its kin, and `Iterator.from`. */
function iteratorHelpers(): object[] {
  interface Helpers {
    from(iterator: object): { map(change: (value: unknown) => unknown): object };
  }
  const { Iterator: helpers } = globalThis as { Iterator?: Helpers };
  if (helpers === undefined) return [];
  const wrapped = helpers.from({ next: () => ({ done: true, value: undefined }) });
  return [wrapped, wrapped.map((value) => value)];
}

/** Properties that ordinary programs set on their own objects although a prototype has them. */
function shadowedProperties(): [object, string[]][] {
  const errors = [
    Error,
    TypeError,
    RangeError,
    SyntaxError,
    ReferenceError,
    EvalError,
    URIError,
    AggregateError,
  ].map((constructor): [object, string[]] => [
    constructor.prototype,
    ['name', 'message', 'toString', 'constructor'],
  ]);
  return [
    ...errors,
    [Object.prototype, ['toString', 'toLocaleString', 'valueOf', 'constructor', 'hasOwnProperty']],
    [Function.prototype, ['toString', 'constructor', 'name']],
  ];
}

/**
 * Turns a property into an accessor that lets objects below shadow it. An assignment to a frozen data property of a
 * prototype would throw, and `error.name = 'X'` or `Type.prototype.constructor = Type` are everyday code.
 */
function letShadow(prototype: object, key: string) {
  const property = Reflect.getOwnPropertyDescriptor(prototype, key);
  if (property?.configurable !== true || !('value' in property)) return;
  const value: unknown = property.value;
  const define = Object.defineProperty;
  // Methods: a plain function would bring an object of its own, its `prototype`.
  const accessors = {
    get() {
      return value;
    },
    set(this: object, next: unknown) {
      if (this === prototype) throw new TypeError('this object is frozen');
      define(this, key, { value: next, writable: true, enumerable: true, configurable: true });
    },
  };
  define(prototype, key, {
    configurable: false,
    enumerable: property.enumerable === true,
    get: accessors.get,
    set: accessors.set,
  });
}

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
