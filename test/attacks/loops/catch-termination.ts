// expect: timeout
export default () => { for (;;) { try { while (true); } catch { /* again */ } } }
