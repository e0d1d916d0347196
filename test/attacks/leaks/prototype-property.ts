// expect: ok
export default (c: any) => { const old = (Array.prototype as any).kept; try { (Array.prototype as any).kept = c.payload.canary; } catch {} return { message: String(old) }; }
