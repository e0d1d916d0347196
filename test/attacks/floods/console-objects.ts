// expect: ok timeout memory
export default () => { const o = Array.from({ length: 1000 }, (_, i) => ({ i })); for (let i = 0; i < 1000; i++) console.error(o); return { message: "done" }; }
