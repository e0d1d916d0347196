// expect: not-json result-too-large memory crashed user-error timeout
export default () => { const s = "x".repeat(2 ** 28); return [s, s, s, s]; }
