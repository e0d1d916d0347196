// expect: ok {"message":"contained"}
export default () => {
  const sloppy = new Function("return [this, arguments.callee, arguments.callee.caller, (function f() { return f.caller; })()]");
  const [self, , caller, inner] = sloppy();
  return { message: self === globalThis && caller === null && typeof inner === "function" ? "contained" : "caller " + String(caller) };
};
