// expect: timeout memory
export default () => { (async () => { for (;;) await 1; })(); return { message: "done" }; }
