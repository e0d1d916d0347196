// expect: ok
const tag = (s: any) => s;
export default (c: any) => { const t: any = (() => tag`a`)(); const old = t.kept; try { t.kept = c.payload.canary; } catch {} try { t.raw.kept = 1; } catch {} return { message: String(old) }; }
