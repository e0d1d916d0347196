// expect: memory crashed timeout
export default () => { const all: unknown[] = []; for (;;) all.push(new Promise(() => {})); }
