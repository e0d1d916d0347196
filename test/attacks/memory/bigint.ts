// expect: memory crashed timeout user-error
export default () => { const all: bigint[] = []; for (let i = 1n; ; i++) all.push(1n << (10000000n + i)); }
