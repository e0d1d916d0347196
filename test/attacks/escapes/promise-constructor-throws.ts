// expect: user-error
export default () => { const p = Promise.resolve({ message: "x" }); Object.defineProperty(p, "constructor", { get() { throw new Error("constructor"); } }); return p; };
