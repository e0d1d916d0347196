// expect: ok
export default (c: any) => { for (let i = 0; i < c.payload.draws; i++) Math.random(); return { message: "drawn" }; }
