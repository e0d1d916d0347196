// expect: user-error timeout
export default () => { const e: any = new Error("m".repeat(5_000_000)); e.name = "n".repeat(5_000_000); e.stack = "s\n".repeat(5_000_000); throw e; }
