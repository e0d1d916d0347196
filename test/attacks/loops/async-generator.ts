// expect: timeout
async function* forever() { for (;;) yield 1; }
export default async () => { for await (const x of forever()) void x; }
