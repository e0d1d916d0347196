// expect: ok user-error
export default () => ({ message: (JSON as any).rawJSON("\"x\"") })
