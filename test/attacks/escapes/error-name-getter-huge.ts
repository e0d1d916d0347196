// expect: timeout memory user-error
export default () => { const e = new Error("x"); Object.defineProperty(e, "name", { get: () => "n".repeat(2 ** 28) }); Object.defineProperty(e, "stack", { get: () => "s".repeat(2 ** 28) }); throw e; };
