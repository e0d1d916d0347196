// expect: ok user-error
export default (c: any) => { const old = (globalThis as any).kept; try { (globalThis as any).kept = c.payload.canary; } catch {} return { message: String(old) }; }
