export type { Diagnostic, LocatedValue, Place, SourceText } from './diagnostic.ts';
