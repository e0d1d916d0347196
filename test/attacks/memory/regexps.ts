// expect: memory crashed timeout user-error
export default () => { const all: RegExp[] = []; for (let i = 0; ; i++) { const r = new RegExp("a{" + i + "}(b|c)*" + "x".repeat(1000)); r.test("aaab"); all.push(r); } }
