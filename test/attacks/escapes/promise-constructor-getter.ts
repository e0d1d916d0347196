// expect: ok {"message":"x"}
export default () => { const p = Promise.resolve({ message: "x" }); Object.defineProperty(p, "constructor", { get() { return class { constructor() { throw 1; } }; } }); return p; };
