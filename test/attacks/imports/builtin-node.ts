// expect: load TRANSFORM_IMPORT_REFUSED
import fs from "node:fs";
export default () => fs;
