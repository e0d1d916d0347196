// expect: timeout memory crashed
export default () => { for (;;) Promise.resolve().then(() => 1); }
