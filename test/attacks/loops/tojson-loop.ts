// expect: timeout
export default () => ({ toJSON() { for (;;); } })
