// expect: load TRANSFORM_IMPORT_OUTSIDE
import x from "./%2e%2e/../../package.json";
export default () => x;
