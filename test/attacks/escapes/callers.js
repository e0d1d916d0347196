// expect: ok {"message":"contained"}
exports.default = function transform() {
  const found = [];
  try { if (transform.caller) found.push("caller"); } catch {}
  try { if (arguments.callee) found.push("callee"); } catch {}
  try { if (transform.arguments) found.push("arguments"); } catch {}
  return { message: found.length === 0 ? "contained" : found.join() };
};
