// expect: user-error
export default () => { const e: any = new Error("x"); e.stack = "Error\n" + "    at f (sluice-transform:module:1:1)\n    at g (/etc/passwd:1:1)\n    at h (sluice-transform:module:99999999999:1)\n".repeat(500); throw e; }
