#!/usr/bin/env node
// expect: ok {"message":"x"}
export default () => ({ message: "x" });
