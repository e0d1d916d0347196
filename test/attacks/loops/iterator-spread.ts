// expect: memory crashed timeout user-error
export default () => [...{ *[Symbol.iterator]() { for (;;) yield 1; } }]
