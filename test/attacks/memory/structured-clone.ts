// expect: memory crashed timeout user-error
export default () => { const all: unknown[] = []; let o: any = { a: Array.from({ length: 1000 }, (_, i) => ({ i })) }; for (;;) all.push(structuredClone(o)); }
