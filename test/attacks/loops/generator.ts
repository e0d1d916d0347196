// expect: timeout
function* forever() { for (;;) yield 1; }
export default () => { for (const x of forever()) void x; }
