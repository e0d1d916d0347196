// expect: ok {"message":"contained"}
export default () => {
  class Odd extends Array { static get [Symbol.species]() { return function () { return console; } as any; } }
  const made = new Odd(1, 2, 3);
  try { made.map((x) => x); } catch { /* frozen */ }
  return { message: typeof console.log === "function" && Object.isFrozen(console) ? "contained" : "changed" };
};
