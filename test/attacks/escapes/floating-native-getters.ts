// expect: user-error timeout crashed
export default () => { const e: any = new Error("x"); Object.defineProperty(e, "message", { get() { for (;;); } }); Promise.reject(e); return { message: "x" }; };
