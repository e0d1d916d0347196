// expect: ok
export default (c: any) => { const s: any = Symbol.for("x"); return { message: String(Symbol.keyFor(s)) + String(Object.getOwnPropertyNames(Object(s))) }; }
