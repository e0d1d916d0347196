// expect: load TRANSFORM_IMPORT_OUTSIDE
import x from "../package.json";
export default () => x;
