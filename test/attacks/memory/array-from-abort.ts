// expect: memory crashed timeout user-error
export default () => ({ message: Array.from({ length: 1e9 }).length });
