// expect: timeout memory crashed user-error
export default () => ({ message: String.raw({ raw: { length: 2 ** 53 - 1, 0: "a" } } as any) });
