// expect: ok
export default () => ({ message: "x".repeat(990_000) })
