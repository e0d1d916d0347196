// expect: ok {"message":"x"}
module.exports = new Proxy(() => ({ message: "x" }), { get(t, k) { return k === "default" ? t : undefined; }, ownKeys: () => ["length", "name", "default"], getOwnPropertyDescriptor: (t, k) => Reflect.getOwnPropertyDescriptor(t, k) ?? { value: t, enumerable: true, configurable: true, writable: true } });
