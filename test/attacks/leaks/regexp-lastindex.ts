// expect: ok
const shared = /C/g;
export default (c: any) => { const old = shared.lastIndex; shared.exec(c.payload.canary); return { message: old === 0 ? "clean" : c.payload.canary0 }; }
