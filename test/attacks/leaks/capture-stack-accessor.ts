// expect: ok {"message":"contained"}
export default (c: any) => {
  const target: any = {}; (Error as any).captureStackTrace(target);
  const pair: any = Object.getOwnPropertyDescriptor(target, "stack");
  const open = [pair.get, pair.set].filter((f) => typeof f === "function" && !Object.isFrozen(f));
  for (const f of open) f.held = c.payload.canary;
  return { message: open.length === 0 ? "contained" : "open" };
};
