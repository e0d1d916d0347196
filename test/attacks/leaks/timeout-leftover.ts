// expect: timeout
export default async (c: any) => { console.log(c.payload.canary); for (;;) await c.payload.canary; }
