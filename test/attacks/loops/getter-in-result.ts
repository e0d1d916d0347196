// expect: timeout
export default () => ({ get message() { for (;;); } })
