// expect: ok {"message":"contained"}
export default (c: any) => ({ message: ({} as any).polluted === undefined && Object.getPrototypeOf(c.payload) === Object.prototype ? "contained" : "polluted" })
