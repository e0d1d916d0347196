// expect: load TRANSFORM_DYNAMIC_IMPORT
export default () => import("node:fs");
