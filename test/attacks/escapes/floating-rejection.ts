// expect: user-error
export default () => { Promise.reject(new Error("Script execution timed out.")); return { message: "x" }; }
