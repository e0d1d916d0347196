// expect: memory crashed timeout result-too-large
export default () => { const o: any = {}; for (let i = 0; i < 1e6; i += 1) o["k" + i] = 1; return o; };
