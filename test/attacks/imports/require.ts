// expect: load TRANSFORM_REQUIRE
declare const require: any;
export default () => require("fs");
