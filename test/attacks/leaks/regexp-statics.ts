// expect: ok
export default (c: any) => { const R = RegExp as any; const old = [R.$1, R.lastMatch, R.input, R["$&"], R.leftContext, R.$_].join(); /(.*)/.exec(c.payload.canary); return { message: old }; }
