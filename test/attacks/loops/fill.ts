// expect: timeout crashed memory ok user-error
export default () => { const a = new Array(1e9).fill(0); return { message: String(a.length) }; }
