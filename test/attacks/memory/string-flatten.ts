// expect: memory crashed timeout user-error ok
export default () => { const all: string[] = []; for (let i = 0; i < 1000; i++) { const s = String(i).repeat(2e7); s.charCodeAt(5); all.push(s.toUpperCase()); } return { message: String(all.length) }; }
