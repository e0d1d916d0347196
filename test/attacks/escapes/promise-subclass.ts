// expect: ok {"message":"x"}
class P extends Promise<any> { static get [Symbol.species]() { return Promise; } override then(a: any, b: any): any { return super.then(a, b); } }
export default () => new P((resolve) => resolve({ message: "x" }));
