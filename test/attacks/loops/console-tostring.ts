// expect: timeout
export default () => { console.log({ toJSON() { for (;;); } }); }
