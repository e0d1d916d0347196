// expect: timeout crashed memory user-error
export default () => { let x = 3n; for (;;) x = x ** 7n; }
