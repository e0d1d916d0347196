// expect: timeout crashed memory ok user-error not-json
export default () => { const s = "\u1e9b\u0323".repeat(8000000); return { message: String(s.normalize("NFKD").length) }; }
