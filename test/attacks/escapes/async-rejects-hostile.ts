// expect: user-error
export default async () => { throw new Proxy({}, { get() { throw 1; }, getPrototypeOf() { throw 2; } }); }
