// expect: memory crashed timeout user-error
export default () => { const a: unknown[] = []; for (;;) a.push(new ArrayBuffer(1 << 20)); }
