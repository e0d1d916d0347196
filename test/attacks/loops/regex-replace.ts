// expect: timeout user-error
export default () => "a".repeat(100000).replace(/(a*)*b/g, "x")
