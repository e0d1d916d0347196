/** What advice reads of transforms, beside what the engine needs. At most 40 names. */
import type { TransformRef } from './transform.ts';

export { NODE_STAND_INS, standInOf } from './names.ts';

/** What a finding on a transform says beside its place, by code. */
export interface SandboxFacts {
  /** `dir`: `hooks.transformsDir`, absolute. */
  TRANSFORM_NOT_FOUND: { readonly ref: TransformRef; readonly dir: string };
  TRANSFORM_IMPORT_REFUSED: { readonly dir: string; readonly specifier: string };
  /** `file`: absolute. */
  TRANSFORM_IMPORT_NOT_FOUND: { readonly file: string; readonly specifier: string };
  /** `id`: of the file that is imported from; `text`: absent where it is a stand-in for a module of Node. */
  TRANSFORM_IMPORT_NAME: { readonly id: string; readonly name: string };
  TRANSFORM_MISSING_GLOBAL: { readonly name: string };
  /** A variable, and a transform that does not set it. */
  TRANSFORM_ENV_MISSING: { readonly name: string; readonly user: TransformRef | undefined };
  TRANSFORM_FILE_TYPE: { readonly of: 'import' | 'file' };
  TRANSFORM_TOO_LARGE: { readonly of: 'import' | 'file' | 'linked' };
  TRANSFORM_EXPORT_MISSING: Exports;
  TRANSFORM_NOT_A_FUNCTION: Exports;
}

interface Exports {
  readonly module: string;
  /** Names of the functions that it exports. */
  readonly functions: readonly string[];
}
