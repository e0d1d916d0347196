// expect: load TRANSFORM_IMPORT_REFUSED
import ivm from "isolated-vm";
export default () => ivm;
