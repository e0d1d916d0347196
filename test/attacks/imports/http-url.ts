// expect: load TRANSFORM_IMPORT_REFUSED
import x from "https://example.com/x.js";
export default () => x;
