// expect: timeout
export default () => new Proxy({}, { ownKeys() { for (;;); } })
