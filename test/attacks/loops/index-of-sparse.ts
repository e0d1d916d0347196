// expect: timeout crashed memory ok
export default () => { const a: unknown[] = []; a.length = 4294967295; a[4294967294] = 1; return { message: String(Array.prototype.includes.call({ length: 2 ** 53 - 1 }, 1)) }; }
