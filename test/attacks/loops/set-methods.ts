// expect: timeout memory crashed user-error
export default () => { const s: any = new Set([1]); s.union({ size: 1, has: () => true, keys: () => ({ next: () => ({ done: false, value: {} }) }) }); return { message: "x" }; };
