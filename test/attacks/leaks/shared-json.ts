// expect: ok
import table from "./shared.json";
export default (c: any) => { const t: any = table; const old = t.kept; t.kept = c.payload.canary; return { message: String(old) }; }
