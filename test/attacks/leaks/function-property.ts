// expect: ok
const holder: any = () => 1;
export default (c: any) => { const old = holder.kept; holder.kept = c.payload.canary; return { message: String(old) }; }
