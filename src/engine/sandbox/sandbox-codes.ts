/** Codes of all findings about transforms. */
export const SANDBOX_CODES = [
  /** A mapping names a module that is no file. */
  'TRANSFORM_NOT_FOUND',
  /** A mapping names a module outside the transforms folder. */
  'TRANSFORM_OUTSIDE',
  /** A module or an import is of a kind that transforms cannot use. */
  'TRANSFORM_FILE_TYPE',
  /** An import that is neither relative nor "sluice". */
  'TRANSFORM_IMPORT_REFUSED',
  /** An import that leads out of the transforms folder. */
  'TRANSFORM_IMPORT_OUTSIDE',
  /** An import that leads to no file. */
  'TRANSFORM_IMPORT_NOT_FOUND',
  /** An import of a name that the other file does not export. */
  'TRANSFORM_IMPORT_NAME',
  /** A global of Node or a browser that transforms do not have. */
  'TRANSFORM_MISSING_GLOBAL',
  /** A variable of `process.env` that the mapping does not set (warning). */
  'TRANSFORM_ENV_MISSING',
  /** A Map or Set at module level, which is empty again in every call (warning). */
  'TRANSFORM_FORGETS',
  /** Import() in a transform. */
  'TRANSFORM_DYNAMIC_IMPORT',
  /** Require in an ES module, or by a computed name. */
  'TRANSFORM_REQUIRE',
  /** Await outside a function. */
  'TRANSFORM_TOP_LEVEL_AWAIT',
  /** A file that cannot be compiled. */
  'TRANSFORM_SYNTAX',
  /** A module that is over 1 MB with all it imports. */
  'TRANSFORM_TOO_LARGE',
  /** The module does not export what the mapping calls. */
  'TRANSFORM_EXPORT_MISSING',
  /** The export is no function. */
  'TRANSFORM_NOT_A_FUNCTION',
  /** The module throws, or takes too long, before its function is called. */
  'TRANSFORM_TOP_LEVEL_FAILED',
  /** The top level costs every call more than a millisecond (warning). */
  'TRANSFORM_HEAVY_TOP_LEVEL',
  /** No worker process started to try the module in. */
  'TRANSFORM_NOT_CHECKED',
  /** The process that links modules gave no answer. */
  'TRANSFORM_LOADER_FAILED',
  /** An error that TypeScript reports. */
  'TRANSFORM_TYPES',
  /** No TypeScript was found next to the configuration (warning). */
  'TRANSFORM_TYPES_NOT_CHECKED',
] as const;
