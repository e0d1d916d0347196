// expect: memory crashed timeout user-error
export default () => { const m = new Set(); for (let i = 0; ; i++) m.add("key" + i); }
