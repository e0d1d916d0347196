// expect: ok {"message":"contained"}
export default (c) => {
  const seen = []; const run = eval;
  try { seen.push(run("typeof leaked === 'undefined' ? 'none' : leaked")); } catch (e) { seen.push(String(e)); }
  for (const code of ["let leaked = 1", "const leaked = 1", "class leaked {}", "var leaked = 1", "function leaked() {}", "leaked = 1"]) { try { run(code); } catch { /* refused */ } }
  try { Function("leaked = " + JSON.stringify(c.payload.canary))(); } catch { /* refused */ }
  return { message: seen.join() === "none" ? "contained" : seen.join() };
};
