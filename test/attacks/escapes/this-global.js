// expect: ok {"message":"contained"}
exports.default = function () {
  const global = Function("return this")();
  const known = Object.getOwnPropertyNames(global).filter((name) => /process|require|sluice|isolate|host|module|start|take/i.test(name));
  const stand = Object.getOwnPropertyNames(global.process).concat(Object.keys(global.process.env));
  return { message: String(known) === "process" && String(stand) === "env" && this === undefined ? "contained" : String([known, stand]) };
};
