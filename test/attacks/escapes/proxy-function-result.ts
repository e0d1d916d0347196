// expect: not-json ok pending-promise
export default () => new Proxy(function () {}, { get: () => () => "x", apply: () => "x" })
