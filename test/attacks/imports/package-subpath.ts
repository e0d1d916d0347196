// expect: load TRANSFORM_IMPORT_REFUSED
import x from "sluice/dist/main.js";
export default () => x;
