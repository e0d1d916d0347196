// expect: result-too-large memory timeout crashed not-json
export default () => { let o: unknown = "x".repeat(100); for (let i = 0; i < 30; i++) o = [o, o]; return o; }
