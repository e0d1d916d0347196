// expect: ok {"message":"contained"}
export default () => {
  const tries = [
    () => Object.setPrototypeOf(globalThis, { leak: 1 }), () => Object.setPrototypeOf(Object.prototype, { leak: 1 }), () => Object.setPrototypeOf(Array, null),
    () => Object.defineProperty(globalThis, "leak", { value: 1 }), () => (0, eval)("var leak = 1"), () => (0, eval)("function leak() {}"), () => new Function("leak = 1")(),
    () => Reflect.set(globalThis, "undefined", 1) || (() => { throw 1; })(), () => new Function("this.leak = 1")() === undefined && (globalThis as any).leak === undefined && (() => { throw 1; })(),
    () => { (Object.getPrototypeOf(globalThis) as any).leak = 1; },
  ];
  const open = tries.map((t) => { try { t(); return true; } catch { return false; } });
  return { message: "leak" in globalThis || "leak" in {} ? "open" + open.join() : "contained" };
};
