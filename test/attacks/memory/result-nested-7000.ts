// expect: ok not-json
export default () => { let o: any = {}; for (let i = 0; i < 7000; i += 1) o = { d: o }; return { message: "x", data: o }; };
