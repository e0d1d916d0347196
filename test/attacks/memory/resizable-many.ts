// expect: memory crashed timeout user-error
export default () => { const k = []; for (;;) k.push(new (ArrayBuffer as any)(1, { maxByteLength: 2 ** 32 })); };
