// expect: ok
export default (c: any) => { console.log(c.payload.canary); return { message: "logged" }; }
