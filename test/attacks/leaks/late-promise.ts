// expect: ok user-error
let resolveLater: any;
let settled = "none";
export default async (c: any) => { const old = settled; new Promise((r) => { resolveLater = r; }).then((v) => { settled = String(v); }); resolveLater(c.payload.canary); return { message: old }; }
