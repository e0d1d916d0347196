// expect: timeout memory user-error crashed ok
export default () => { const r = new RegExp("(?:a|b)?".repeat(200000) + "[" + "\\p{L}".repeat(2000) + "]", "u"); return { message: String(r.test("c".repeat(1000))) }; };
