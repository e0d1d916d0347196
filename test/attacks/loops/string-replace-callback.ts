// expect: timeout
export default () => "aaaa".replace(/a/g, () => { for (;;); })
