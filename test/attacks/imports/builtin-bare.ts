// expect: load TRANSFORM_IMPORT_REFUSED
import { execSync } from "child_process";
export default () => execSync("id");
