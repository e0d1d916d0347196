// expect: load TRANSFORM_IMPORT_REFUSED
const fs = require("fs");
module.exports = () => fs;
