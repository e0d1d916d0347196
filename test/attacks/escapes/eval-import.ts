// expect: ok {"message":"contained"}
export default async () => {
  let found = "";
  for (const name of ["fs", "node:fs", "process", "file:///etc/passwd", "./x.js", "data:text/javascript,export default 1"]) {
    for (const run of [() => (0, eval)("import(" + JSON.stringify(name) + ")"), () => new Function("return import(" + JSON.stringify(name) + ")")()]) {
      try { await run(); found += name; } catch { /* not there */ }
    }
  }
  return { message: found === "" ? "contained" : found };
};
