// expect: ok {"message":"none"}
export default (c: any) => { const d: any = Object.getOwnPropertyDescriptor(new Error("x"), "stack"); const f = d.get ?? {}; const old = f.held; try { f.held = c.payload.canary; } catch { /* frozen */ } return { message: String(old ?? "none") }; };
