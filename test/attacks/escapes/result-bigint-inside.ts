// expect: not-json
export default () => ({ message: 1n });
