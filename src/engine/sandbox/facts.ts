/** What advice reads of transforms, beside what the engine needs. At most 40 names. */
import type { Place } from '../../base/document/document.ts';
import type { SourceText } from '../../base/finding.ts';
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

/** A file of a transform, in the one form in which esbuild prints it. */
export interface ModuleSubject {
  readonly kind: 'module';
  /** As it is written. */
  readonly source: SourceText;
  readonly language: 'typescript' | 'esm' | 'commonjs';
  readonly code: string;
  /** Exports that mappings use; empty for a file that no mapping names. */
  readonly exports: readonly string[];
  /** Where a part of the printed code stands as it is written; undefined for what esbuild added. */
  readonly placeOf: (offset: number, length: number) => Place | undefined;
}

/** What transforms give to look at, by kind. */
export interface SandboxSubjects {
  readonly module: ModuleSubject;
}
