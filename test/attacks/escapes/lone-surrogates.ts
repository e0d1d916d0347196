// expect: ok {"message":"\ud800x\udc00"}
export default () => ({ message: "\ud800x\udc00" })
