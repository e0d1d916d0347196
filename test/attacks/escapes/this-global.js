// expect: ok {"message":"contained"}
exports.default = function () {
  const global = Function("return this")();
  const known = Object.getOwnPropertyNames(global).filter((name) => /process|require|sluice|isolate|host|module|start|take/i.test(name));
  return { message: known.length === 0 && this === undefined ? "contained" : String(known) };
};
