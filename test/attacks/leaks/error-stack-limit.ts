// expect: ok
export default (c: any) => { const E = Error as any; const old = E.kept ?? E.stackTraceLimit; try { E.stackTraceLimit = 1; E.kept = c.payload.canary; } catch {} return { message: String(old) }; }
