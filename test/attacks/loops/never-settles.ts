// expect: pending-promise
export default () => new Promise(() => {})
