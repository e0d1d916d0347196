// expect: timeout
export default () => { for (;;) { try { for (;;); } finally { continue; } } };
