// expect: timeout
export default () => Array.from({ length: 1000 }, (_, i) => i).sort(() => { for (;;); })
