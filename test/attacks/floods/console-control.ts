// expect: ok
export default () => { for (let i = 0; i < 1000; i += 1) console.log("\u0000\u001b[31m".repeat(100)); return { message: "x" }; };
