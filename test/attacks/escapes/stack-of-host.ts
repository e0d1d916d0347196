// expect: ok {"message":"contained"}
export default () => {
  const stack = String(new Error("x").stack);
  return { message: /node_modules|worker-process|isolated-module|file:|\/tmp|\/home/.test(stack) ? stack : "contained" };
};
