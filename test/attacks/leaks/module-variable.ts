// expect: ok
let kept: unknown = "none";
export default (c: any) => { const old = kept; kept = c.payload.canary; return { message: String(old) }; }
