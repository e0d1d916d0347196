// expect: memory crashed timeout user-error
export default () => { const all: string[] = []; for (;;) all.push(new Array(1e6).join("abcdefghij")); }
