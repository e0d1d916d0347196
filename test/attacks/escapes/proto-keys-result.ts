// expect: ok {"__proto__":{"polluted":1},"message":"m"}
export default () => JSON.parse('{"__proto__":{"polluted":1},"message":"m"}')
