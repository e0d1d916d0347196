// expect: ok timeout memory crashed
export default () => { console.log(new Map(Array.from({ length: 1e6 }, (_, i) => [i, i]))); return { message: "x" }; };
