// expect: timeout
export default () => { throw { get stack() { for (;;); } }; }
