// expect: ok {"message":"contained"}
export default () => {
  let seen = "";
  try {
    (Error as any).prepareStackTrace = (_: unknown, sites: any[]) => { for (const site of sites) { const self = site.getThis?.(); const fn = site.getFunction?.(); if (self || fn) seen += "x"; } return seen; };
  } catch { /* frozen */ }
  void new Error("x").stack;
  return { message: seen === "" ? "contained" : seen };
};
