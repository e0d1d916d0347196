// expect: memory crashed timeout
export default () => { let f: any = () => 1; for (;;) { const g = f; f = () => g; } }
