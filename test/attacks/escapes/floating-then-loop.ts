// expect: timeout
export default (c: any) => { Promise.reject(new Error(c.payload.canary)); for (;;); };
