// expect: ok
export default (c: any) => { let n = 0; const tick = (): unknown => (n++ < 1000 ? Promise.resolve().then(tick) : console.log(c.payload.canary)); tick(); return { message: "sync" }; }
