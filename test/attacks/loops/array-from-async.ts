// expect: timeout memory
export default async () => (Array as any).fromAsync({ async *[Symbol.asyncIterator]() { for (;;) yield 1; } });
