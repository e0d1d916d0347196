// expect: memory crashed timeout user-error
export default () => { for (let i = 0; ; i++) (0, eval)("(function(){ return " + JSON.stringify("x".repeat(1e5)) + "})"); }
