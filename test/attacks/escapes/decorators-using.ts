// expect: ok {"message":"A,B,disposed"}
enum E { A = "A", B = "B" }
namespace N { export const v = E.B; }
const log: string[] = [];
function deco(value: any, _context: any) { return value; }
class C { @deco m() { return E.A; } }
export default () => { { using r = { [Symbol.dispose]() { log.push("disposed"); } }; log.push(new C().m(), N.v); void r; } return { message: log.join() }; };
