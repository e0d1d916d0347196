// expect: user-error
export default () => { throw undefined; }
