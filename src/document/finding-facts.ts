import type { Finding, TextEdit } from '../finding.ts';

/** What the parser says of a text that is no YAML. */
export interface SyntaxFacts {
  /** Where it stumbles. */
  readonly offset: number;
  /** Its own code, e.g. `BAD_DQ_ESCAPE`; `NON_STRING_KEY` where it is no error of its own. */
  readonly error: string;
  /** Whether something is opened and not closed. */
  readonly isOpen: boolean;
  /** All places at which it stumbles, as findings; the first are told. */
  stumbles(): readonly Finding[];
}

/** Keys that are other keys than they look like. */
export interface StrangeKeysFacts {
  readonly count: number;
  /** The first sign that a plain one is to stand for. */
  readonly sign: string;
  readonly isUnseen: boolean;
  /** The file with plain signs. */
  readonly edit: TextEdit;
}

/** What findings of documents say beside their place, by code. */
export interface DocumentFacts {
  /** What the parser says, or strange keys of a text that it takes, or the name of an anchor that is not there. */
  YAML_SYNTAX: {
    readonly parser?: SyntaxFacts;
    readonly strange?: StrangeKeysFacts;
    readonly alias?: string;
  };
  WRONG_TYPE: { readonly isEmpty: true };
  NON_STRING_KEY: { readonly parser: SyntaxFacts };
  YAML_TAB: { readonly parser: SyntaxFacts };
  /** The text that holds a control character, or what the parser read it as. */
  JSON_SYNTAX: { readonly text: string } | { readonly format: 'json' | 'json5' };
  MULTIPLE_DOCUMENTS: {
    /** Whether nothing stands behind the first. */
    readonly isOne: boolean;
    /** The first key of each; undefined where a document has none. */
    readonly firstKeys: readonly (string | undefined)[];
  };
}
