// expect: memory crashed timeout user-error
export default () => { new RegExp("(".repeat(1e6) + ")".repeat(1e6)).test("x"); return {}; };
