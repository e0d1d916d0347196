// expect: timeout crashed memory ok user-error
export default () => { const a: number[] = []; a.length = 4294967295; return { message: String(a.reduceRight((x) => x, 0)) }; }
