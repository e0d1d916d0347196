// expect: memory crashed timeout user-error
export default () => { let s = "x"; const all: string[] = []; for (;;) { s += s + Math.random(); all.push(s.slice(1)); } }
