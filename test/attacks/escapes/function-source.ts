// expect: ok {"message":"contained"}
export default () => {
  const text = [console.log, Date, Math.random, structuredClone].map((f) => Function.prototype.toString.call(f)).join();
  return { message: /node_modules|\/home|\/tmp|file:/.test(text) ? "shows paths" : "contained" };
};
