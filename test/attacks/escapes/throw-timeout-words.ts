// expect: user-error
export default () => { throw new Error("Script execution timed out."); }
