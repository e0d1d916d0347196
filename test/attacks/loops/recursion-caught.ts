// expect: timeout
export default () => { const f = (): void => { try { f(); } finally { f(); } }; f(); }
