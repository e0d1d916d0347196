// expect: memory crashed timeout user-error ok
export default () => { const a = new Uint8Array(5e8); for (let i = 0; i < 1e9; i++) a.copyWithin(1, 0); return { message: "x" }; }
