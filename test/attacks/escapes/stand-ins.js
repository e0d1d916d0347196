// expect: ok {"message":"contained"}
import nodeCrypto, { createHash, createHmac } from "node:crypto";
import { Buffer as Named } from "node:buffer";
const reach = (start) => {
  const seen = new Set();
  const waiting = [start];
  while (waiting.length > 0) {
    const value = waiting.pop();
    if ((typeof value !== "object" && typeof value !== "function") || value === null || seen.has(value)) continue;
    seen.add(value);
    waiting.push(Object.getPrototypeOf(value));
    for (const key of Reflect.ownKeys(value)) { try { waiting.push(value[key]); } catch { /* an accessor of another object */ } }
  }
  return seen;
};
export default () => {
  const found = [];
  for (const start of [process, crypto, nodeCrypto, Buffer, Named, createHash("md5"), createHmac("sha1", "k"), Buffer.from("a")]) {
    try { if (start.constructor.constructor("return typeof require + typeof process.pid")() !== "undefinedundefined") found.push("host"); } catch (error) { found.push(String(error)); }
    for (const value of reach(start)) {
      const own = value === start || ArrayBuffer.isView(value) || value instanceof ArrayBuffer;
      if (!own && !Object.isFrozen(value) && value !== globalThis) found.push("open " + String(value).slice(0, 60));
    }
  }
  try { Buffer.from({ length: 1, get 0() { found.push("called"); return 1; } }); } catch { /* it takes no such thing */ }
  return { message: found.length === 0 ? "contained" : found.join().slice(0, 500) };
};
