import type { z } from 'zod';
import type { LocatedValue, Path } from './located.ts';

/** What the parser says of a text that is no YAML. */
export interface SyntaxFacts {
  readonly offset: number;
  /** The parser's code, e.g. `BAD_DQ_ESCAPE`; `NON_STRING_KEY` for a key that is no string. */
  readonly error: string;
  readonly isOpen: boolean;
}

/** What a schema is for: the words of others are known of each. */
export type SchemaName = 'configuration' | 'mapping' | 'mapping file' | 'request file' | 'sender file';

/** A part of a document that a schema does not allow. */
export interface PartFacts {
  /** All that the schema is for. */
  readonly root: LocatedValue;
  readonly schema: z.ZodType;
  readonly of?: SchemaName;
  /** From the root on; for an unknown key the path of its object. */
  readonly path: Path;
}

export interface UnknownKeyFacts extends PartFacts {
  readonly key: string;
}

/** What findings of documents say beside their place, by code. */
export interface DocumentFacts {
  /** What the parser says, or the name of an anchor that is not there. */
  YAML_SYNTAX: { readonly parser?: SyntaxFacts; readonly alias?: string };
  UNKNOWN_KEY: UnknownKeyFacts;
  MISSING_KEY: PartFacts;
  /** `expected` names the allowed kinds in words. */
  WRONG_TYPE: PartFacts & { readonly expected: readonly string[] };
  INVALID_VALUE: PartFacts & {
    /** The check that failed; `form` is a format or a check of the module's own, `name` a check of the key itself. */
    readonly check: 'bound' | 'multiple' | 'form' | 'values' | 'name';
    readonly taken?: readonly string[];
  };
  NON_STRING_KEY: { readonly parser: SyntaxFacts };
  YAML_TAB: { readonly parser: SyntaxFacts };
  /** The text that holds a control character, or what the parser read it as. */
  JSON_SYNTAX: { readonly text: string } | { readonly format: 'json' | 'json5' };
}
