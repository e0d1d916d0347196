// expect: timeout
export default async () => { for (;;) await null; }
