// expect: not-json memory timeout crashed
export default () => { const a: any[] = []; a.length = 2 ** 32 - 1; return a; };
