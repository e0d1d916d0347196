// expect: timeout
export default () => { for (;;) console.log("x"); }
