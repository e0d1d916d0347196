// expect: user-error
export default () => { Promise.reject(new Proxy({}, { get() { throw 1; }, getPrototypeOf() { throw 2; } })); return { message: "x" }; }
