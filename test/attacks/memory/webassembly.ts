// expect: user-error
export default () => new (globalThis as any).WebAssembly.Memory({ initial: 16384 })
