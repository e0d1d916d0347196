// expect: load TRANSFORM_IMPORT_REFUSED
export * from "node:os";
