// expect: timeout
export default () => ({ then() { for (;;); } })
