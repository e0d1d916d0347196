// expect: ok {"message":"contained"}
export default (context: any) => {
  const found: string[] = [];
  for (const start of [context, context.payload, console.log, Date, Math.random, (async () => 1), [], /x/, new Error("x"), Symbol("x")]) {
    const make = (start as any).constructor.constructor;
    // What stands in for Node's process and Buffer has none of these.
    for (const name of ["process.pid", "process.binding", "process.mainModule", "process.constructor.constructor('return require')()", "Buffer.poolSize", "require", "module", "global", "setTimeout", "fetch", "ivm", "__filename", "Deno"]) {
      try { if (make("return typeof " + name)() !== "undefined") found.push(name); } catch { /* not there */ }
    }
  }
  return { message: found.length === 0 ? "contained" : found.join() };
};
