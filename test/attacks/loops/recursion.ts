// expect: user-error
export default () => { const f = (): number => 1 + f(); return f(); }
