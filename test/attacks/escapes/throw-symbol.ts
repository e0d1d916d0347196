// expect: user-error
export default () => { throw Symbol("x"); }
