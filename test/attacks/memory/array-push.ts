// expect: memory crashed timeout
export default () => { const a: unknown[] = []; for (;;) a.push(new Array(1000).fill(1)); }
