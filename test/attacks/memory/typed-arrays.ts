// expect: memory crashed timeout user-error
export default () => { const a: unknown[] = []; for (;;) a.push(new Uint8Array(1 << 22).fill(1)); }
