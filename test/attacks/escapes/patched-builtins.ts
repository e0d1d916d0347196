// expect: ok {"message":"contained"}
export default () => {
  let worked = 0;
  const g = globalThis as any;
  for (const change of [() => { JSON.stringify = (() => '{"message":"patched"}') as any; }, () => { JSON.parse = (() => 1) as any; }, () => { g.Date = class {}; }, () => { Math.random = () => 4; }, () => { g.Object = {}; }, () => { g.console.log = () => 1; }, () => { g.console = {}; }, () => { g.String = () => "x"; }, () => { g.undefined = 1; }, () => { g.Promise = class {}; }, () => { g.newGlobal = 1; }, () => { delete g.JSON; }, () => { Object.defineProperty(g, "Error", { value: 1 }); }]) {
    try { change(); worked++; } catch { /* frozen */ }
  }
  return { message: worked === 0 ? "contained" : String(worked) };
};
