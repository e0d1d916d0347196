// expect: ok {"message":"contained"}
export default (c: any) => {
  const found: any[] = [
    Object.getPrototypeOf((function* () {})().constructor ?? {}), Object.getPrototypeOf(Object.getPrototypeOf(new Intl.Segmenter().segment("a")[Symbol.iterator]())),
    Object.getPrototypeOf("a".matchAll(/a/g)), Object.getPrototypeOf((globalThis as any).Iterator.from({ next() {} })), Object.getPrototypeOf([].values().map((x) => x)),
    Object.getPrototypeOf(new Map().entries()), (function () { return Object.getOwnPropertyDescriptor(arguments, Symbol.iterator)!.value; })(),
    new Function("return Object.getOwnPropertyDescriptor(function () { 'use strict'; return arguments; }(), 'callee').get")(),
    Object.getPrototypeOf(Proxy.revocable({}, {}).revoke), Promise.withResolvers().resolve.constructor, (async () => {}).constructor, (async function* () {}).constructor,
    Object.getPrototypeOf(async function* () {}).prototype, (Array as any).fromAsync, Object.getPrototypeOf(Float16Array ?? Int8Array), (Symbol.prototype as any)[Symbol.toPrimitive],
    Array.prototype[Symbol.unscopables], (globalThis as any).DisposableStack?.prototype, (globalThis as any).AsyncDisposableStack?.prototype, Object.getPrototypeOf(Object.getPrototypeOf((async function* () {})())),
    Object.getOwnPropertyDescriptor(Object.prototype, "__proto__")!.set, Object.getOwnPropertyDescriptor(RegExp, Symbol.species)!.get, Intl.DurationFormat?.prototype, (Intl as any).Locale.prototype,
    new Intl.DateTimeFormat().format.constructor, new Intl.NumberFormat().format.constructor, new Intl.Collator().compare.constructor,
    Object.getPrototypeOf(new Intl.Segmenter().segment("a").containing(0)!),
  ].filter((x) => x !== undefined && x !== null);
  const open = found.map((f, i) => [i, Object.isFrozen(f)] as const).filter(([, frozen]) => !frozen);
  return { message: open.length === 0 ? "contained" : JSON.stringify(open) };
};
