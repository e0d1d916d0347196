// expect: memory crashed timeout
export default () => { let o: any = {}; for (;;) o = { o, a: [1, 2, 3] }; }
