// expect: memory crashed timeout user-error ok
export default () => { const all: unknown[] = []; for (let i = 0; i < 4096; i++) { const b = new (ArrayBuffer as any)(1, { maxByteLength: 1 << 28 }); b.resize(1 << 28); new Uint8Array(b).fill(1); all.push(b); } return { message: "x" }; }
