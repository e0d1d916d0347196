// expect: load TRANSFORM_IMPORT_REFUSED
import x from "data:text/javascript,export default 1";
export default () => x;
