// expect: load TRANSFORM_IMPORT_REFUSED
import x from "file:///etc/hostname";
export default () => x;
