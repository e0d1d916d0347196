// expect: load TRANSFORM_IMPORT_REFUSED
import x from "/etc/hostname";
export default () => x;
