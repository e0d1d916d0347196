// expect: ok
export default () => ({ message: "x", data: (JSON as any).rawJSON("1e999") });
