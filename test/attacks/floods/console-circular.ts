// expect: ok
export default () => { const o: any = {}; o.o = o; console.log(o, new Proxy({}, { ownKeys() { throw 1; } }), Symbol("x"), 1n, () => 1, undefined, null); return { message: "done" }; }
