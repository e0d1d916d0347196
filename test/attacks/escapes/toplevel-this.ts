// expect: ok {"message":"undefined"}
// @ts-nocheck
const top = this;
export default () => ({ message: String(top) });
