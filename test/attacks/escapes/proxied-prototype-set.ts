// expect: ok {"message":"contained"}
export default () => {
  for (const key of ["toString", "valueOf", "constructor", "hasOwnProperty"]) {
    for (const target of [Object.prototype, Function.prototype, Error.prototype, TypeError.prototype]) {
      for (const receiver of [new Proxy(target, {}), Object.create(target), target]) { try { Reflect.set(target, key, () => "leak", receiver); } catch { /* frozen */ } }
      try { (new Proxy(target, {}) as any)[key] = () => "leak"; } catch { /* frozen */ }
    }
  }
  return { message: String({}) === "[object Object]" && String(new Error("x")) === "Error: x" ? "contained" : "patched" };
};
