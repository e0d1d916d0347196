// expect: ok {"message":"contained"}
export default () => {
  const seen = new Set<unknown>(); const open: string[] = []; const queue: [string, any][] = [["globalThis", globalThis]];
  while (queue.length > 0) {
    const [path, object] = queue.pop()!;
    if (seen.has(object) || path.length > 200) continue;
    seen.add(object);
    if (object !== globalThis ? !Object.isFrozen(object) : Object.isExtensible(object)) open.push(path);
    for (const key of Reflect.ownKeys(object)) {
      const d = Reflect.getOwnPropertyDescriptor(object, key)!;
      for (const value of [d.value, d.get, d.set]) if ((typeof value === "object" && value !== null) || typeof value === "function") queue.push([path + "." + String(key), value]);
    }
    const proto = Reflect.getPrototypeOf(object); if (proto !== null) queue.push([path + ".[[Prototype]]", proto]);
  }
  return { message: open.length === 0 && seen.size > 500 ? "contained" : open.slice(0, 5).join() + " of " + seen.size };
};
