// expect: ok {"message":"none"}
export default (c: any) => { const f = (0, eval)("(function f() { return f; })"); const t = (0, eval)("(s => s)`a`"); const old = f.held ?? (t as any).held; f.held = c.payload.canary; return { message: String(old ?? "none") }; };
