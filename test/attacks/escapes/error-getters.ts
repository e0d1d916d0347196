// expect: user-error
export default () => { throw { get name() { throw this; }, get message() { return { toString() { throw 1; } }; }, get stack() { return Symbol("x"); } }; }
