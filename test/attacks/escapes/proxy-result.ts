// expect: ok {"message":"contained"}
export default () => new Proxy({ message: "contained" }, {
  get(target, key) { try { return (target as any).constructor.constructor("return process.pid")().toFixed(); } catch { return Reflect.get(target, key); } },
});
