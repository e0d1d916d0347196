// expect: ok {"message":"contained"}
export default () => {
  const protos = [function* () {}, async function* () {}, async () => {}].map((f) => Object.getPrototypeOf(f));
  const open = protos.filter((p) => !Object.isFrozen(p) || (p.prototype && !Object.isFrozen(p.prototype)));
  return { message: open.length === 0 ? "contained" : "open" };
};
