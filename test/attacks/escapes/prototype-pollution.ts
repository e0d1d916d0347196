// expect: ok {"message":"contained"}
export default () => {
  const tries: (() => void)[] = [
    () => { (Object.prototype as any).then = (resolve: any) => resolve({ message: "polluted" }); },
    () => { (Object.prototype as any).toJSON = () => "polluted"; },
    () => { (Array.prototype as any).push = () => 1; },
    () => { Object.setPrototypeOf(Object.prototype, { polluted: 1 }); },
    () => { Object.defineProperty(Object.prototype, "lines", { get: () => "polluted" }); },
    () => { (String.prototype as any).slice = () => "polluted"; },
    () => { (Promise.prototype as any).then = () => "polluted"; },
    () => { (Function.prototype as any).call = () => "polluted"; },
    () => { delete (Array.prototype as any)[Symbol.iterator]; },
    () => { ({} as any).__proto__.polluted = 1; },
    () => { (RegExp.prototype as any).exec = () => null; },
    () => { Object.assign(Object.getPrototypeOf(async function () {}), { x: 1 }); },
  ];
  let worked = 0;
  for (const one of tries) { try { one(); worked++; } catch { /* frozen */ } }
  return { message: worked === 0 ? "contained" : String(worked) };
};
