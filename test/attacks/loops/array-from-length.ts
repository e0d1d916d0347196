// expect: memory crashed timeout user-error
export default () => Array.from({ length: 1e9 }).length
