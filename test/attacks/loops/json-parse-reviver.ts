// expect: timeout
export default () => JSON.parse("[1,2,3]", function () { for (;;); })
