// expect: ok {"message":"contained"}
export default () => {
  const it = Object.getPrototypeOf([][Symbol.iterator]());
  try { it.next = () => ({ done: true, value: undefined }); return { message: "patched" }; } catch { return { message: "contained" }; }
};
