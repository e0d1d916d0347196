// expect: ok
export default () => { console.log("x".repeat(5_000_000)); return { message: "done" }; }
