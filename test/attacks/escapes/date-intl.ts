// expect: ok {"message":"contained"}
export default (c: any) => {
  const now = Date.parse(c.now);
  const texts = [Date.now(), new Date().getTime(), Date.parse(Date()) - (Date.parse(Date()) % 1000), new (class extends Date {})().getTime(), Reflect.construct(Date, []).getTime()];
  const year = new Intl.DateTimeFormat("en", { year: "numeric" }).format();
  const parts = new Intl.DateTimeFormat("en", { year: "numeric" }).formatToParts()[0]!.value;
  const pinned = texts.every((t) => Math.abs(t - now) < 1000) && year === "2001" && parts === "2001" && typeof (globalThis as any).performance === "undefined" && typeof (globalThis as any).Temporal === "undefined";
  return { message: pinned ? "contained" : JSON.stringify([texts, year, parts]) };
};
