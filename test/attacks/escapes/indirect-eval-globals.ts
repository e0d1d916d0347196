// expect: ok {"message":"contained"}
export default () => {
  let worked = "";
  for (const code of ["var leaked = 1", "function leaked2() {}", "this.leaked3 = 1", "leaked4 = 1"]) {
    try { (0, eval)(code); } catch { /* not extensible */ }
  }
  for (const name of ["leaked", "leaked2", "leaked3", "leaked4"]) if (name in globalThis) worked += name;
  return { message: worked === "" ? "contained" : worked };
};
