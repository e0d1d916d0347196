// expect: ok
export default () => { for (let i = 0; i < 20_000; i++) console.log("line " + i); return { message: "done" }; }
