// expect: ok {"message":"contained"}
export default () => ({ then(resolve: any, reject: any) {
  let found = "";
  for (const fn of [resolve, reject]) { try { if (fn.constructor("return typeof process.pid")() !== "undefined") found += "x"; } catch { /* */ } }
  resolve({ message: found === "" ? "contained" : found });
} });
