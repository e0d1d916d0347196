// expect: ok {"message":"contained"}
export default () => {
  const names = Object.getOwnPropertyNames(globalThis);
  return { message: names.some((name) => name.startsWith("__") || /inside|runner|realm/i.test(name)) ? names.join() : "contained" };
};
