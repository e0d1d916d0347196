// expect: result-too-large memory timeout
export default () => Array.from({ length: 400_000 }, (_, i) => ({ i }))
