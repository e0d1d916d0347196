// expect: ok {"message":"contained"}
class Give { constructor(o: any) { return o; } }
class Stamp extends Give { #held = ""; static put(o: any, v: string) { new Stamp(o).#held = v; } static get(o: any) { return #held in o ? o.#held : undefined; } }
export default (c: any) => {
  const targets: any[] = [globalThis, Object.prototype, Array, JSON, Math, Reflect, console, Date];
  const seen = targets.map((t) => Stamp.get(t)).filter((v) => v !== undefined);
  for (const t of targets) { try { Stamp.put(t, c.payload.canary); } catch { /* not extensible */ } }
  return { message: seen.length === 0 ? "contained" : seen.join() };
};
