// expect: load TRANSFORM_REQUIRE
const load = require;
module.exports = () => load("fs");
