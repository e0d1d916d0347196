// expect: ok {"message":"first"}
export default () => ({ then(resolve: any, reject: any) { resolve({ message: "first" }); resolve({ message: "second" }); reject(new Error("third")); throw new Error("fourth"); } })
