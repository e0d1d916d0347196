// expect: ok {"message":"contained"}
export default () => new Proxy({ message: "contained" }, {
  get(target, key) { try { (target as any).constructor.constructor("return process")(); return "escaped"; } catch { return Reflect.get(target, key); } },
});
