// expect: ok {"message":"first"}
export default () => ({ then(resolve: any, reject: any) { Promise.resolve().then(() => { resolve({ message: "first" }); resolve({ message: "second" }); reject(new Error("third")); }); } });
