// expect: not-json memory timeout crashed
export default () => { let o: unknown = 1; for (let i = 0; i < 100_000; i++) o = { o }; return o; }
