// expect: memory crashed timeout user-error ok not-json
export default () => { let d: any = JSON.parse("[".repeat(1e6) + "]".repeat(1e6)); let n = 0; while (d) { d = d[0]; n += 1; } return { message: n }; };
