// expect: ok result-too-large timeout
export default () => Object.fromEntries(Array.from({ length: 50_000 }, (_, i) => ["k" + i, i]))
