// expect: user-error
export default () => { throw new AggregateError([new Error("a".repeat(1e6)), new AggregateError([])], "many", { cause: { toString() { for (;;); } } }); };
