// expect: memory crashed timeout user-error not-json
export default () => { const o: any = { toJSON() { return { a: o }; } }; return o; }
