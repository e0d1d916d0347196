// expect: timeout memory
export default () => { const again = (): unknown => Promise.resolve().then(again); return again(); }
