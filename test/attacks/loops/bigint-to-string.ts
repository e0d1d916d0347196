// expect: timeout crashed memory user-error not-json
export default () => { const x = (1n << 30000000n); return String(x).length; }
