// expect: user-error
export default () => {
  throw new Proxy(new Error("x"), { get() { throw new Proxy({}, { get() { throw 1; } }); }, getPrototypeOf() { throw 2; }, has() { throw 3; } });
};
