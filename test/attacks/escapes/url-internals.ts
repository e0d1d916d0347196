// expect: ok {"message":"contained"}
export default (c: any) => {
  const u = new URL("https://a.example/?x=1"); const params: any = u.searchParams;
  let stolen: any; try { new (params.constructor)("a=1", () => { stolen = 1; }).append("b", "2"); } catch { /* none */ }
  const open = [URL, URLSearchParams, TextEncoder, TextDecoder, structuredClone, atob, Object.getPrototypeOf(params.keys())].filter((f) => !Object.isFrozen(f) || (f.prototype && !Object.isFrozen(f.prototype)));
  return { message: open.length === 0 ? "contained" : "open" };
};
