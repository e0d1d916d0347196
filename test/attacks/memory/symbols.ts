// expect: memory crashed timeout
export default () => { const all: symbol[] = []; for (let i = 0; ; i++) all.push(Symbol.for("s" + i)); }
