// expect: ok {"message":"x"}
let n = 0;
Object.defineProperty(module, "exports", { get() { n += 1; return { default: () => ({ message: "x" }), __esModule: true }; } });
