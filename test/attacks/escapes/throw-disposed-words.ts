// expect: user-error
export default () => { throw new Error("Isolate was disposed during execution due to memory limit"); }
