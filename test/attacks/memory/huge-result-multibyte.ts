// expect: result-too-large
export default () => ({ message: "\u20ac".repeat(600_000) })
