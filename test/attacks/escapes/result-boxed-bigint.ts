// expect: not-json
export default () => Object(1n);
