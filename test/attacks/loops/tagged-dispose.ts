// expect: timeout
export default () => { const a = { get [Symbol.iterator]() { for (;;); } }; return [...(a as any)]; }
