// expect: timeout crashed memory
let sink: unknown;
export default () => { for (;;) sink = new Array(1000); }
