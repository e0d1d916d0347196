// expect: timeout
export default () => ((globalThis as any).Iterator.from({ next: () => ({ done: false, value: 1 }) })).map((x: any) => x).filter(() => false).drop(1e9).reduce((a: any) => a);
