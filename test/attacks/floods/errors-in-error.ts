// expect: user-error timeout memory
export default () => { let e: any = new Error("x"); for (let i = 0; i < 10_000; i++) e = new AggregateError([e], "m", { cause: e }); throw e; }
