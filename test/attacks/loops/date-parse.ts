// expect: timeout
export default () => { for (;;) Date.parse("2024-01-01T00:00:00Z"); }
