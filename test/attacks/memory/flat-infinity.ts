// expect: memory crashed timeout user-error
export default () => { const a: any[] = []; for (let i = 0; i < 1e6; i++) a.push([i]); const b = () => a.flat(Infinity); const all = []; for (;;) all.push(b()); }
