// expect: ok
export default () => { console.log("\ud800\u0000\u001b[31m\u2028 <script>\n\nforged"); return { message: "done" }; }
