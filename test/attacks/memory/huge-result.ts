// expect: result-too-large
export default () => ({ message: "x".repeat(3_000_000) })
