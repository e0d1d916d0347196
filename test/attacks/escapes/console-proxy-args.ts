// expect: ok {"message":"x"}
export default () => { console.log(new Proxy({}, { get() { throw 1; }, ownKeys() { throw 2; }, getPrototypeOf() { throw 3; } })); console.error({ toJSON() { throw 4; } }, Symbol("x"), null, undefined, -0, 10n, () => 1, new Map([[{}, new Set([1])]]), Object.create(null), new Error("e")); console.log(); console.log({ toString: null }); return { message: "x" }; };
