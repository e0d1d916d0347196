// expect: timeout
export default () => { let i = 0; while (true) i++; return i; }
