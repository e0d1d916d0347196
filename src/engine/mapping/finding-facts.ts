import type { SecretFacts } from '../verify/verify.ts';
import type { TemplateCall } from './template/template-subject.ts';
import type { LocatedValue } from '../../base/document/document.ts';
import type { JsonObject } from '../../base/json.ts';
import type { CompiledMapping, PathSettings } from './compiled-mapping.ts';

/** A rule that is none, in the condition that it is a part of. */
export interface RuleFacts {
  readonly rule: JsonObject;
}

/** What a finding of a mapping says beside its place, by code. Texts are the operator's own. */
export interface MappingFacts {
  /** The name of a file; of a folder there are no facts. */
  MAPPING_FILE_PASSED_OVER: { readonly name: string };
  PATH_SETTINGS_DIFFER: {
    readonly key: keyof PathSettings;
    readonly path: string;
    /** The one that sets it first, and the one that sets it otherwise. */
    readonly values: readonly [CompiledMapping, CompiledMapping];
  };
  PATH_SETTINGS_WITHOUT_PATH: { readonly key: keyof PathSettings };
  RESERVED_PATH: { readonly reserved: readonly string[] };
  UNREACHABLE_MAPPING: {
    readonly mapping: CompiledMapping;
    /** The one that takes all its requests. */
    readonly before: CompiledMapping;
    /** Whether that takes no others. */
    readonly isSame: boolean;
  };
  VERIFY_SECRET: SecretFacts;
  UNTRUSTED_ROUTING: { readonly key: string };
  CONDITION_ARITY: RuleFacts;
  CONDITION_UNKNOWN_OPERATOR: RuleFacts;
  CONDITION_NOT_A_RULE: {
    readonly located: LocatedValue;
    /** Whether it may hold a secret, which is not repeated. */
    readonly isSecret: boolean;
  };
  UNKNOWN_CHANNEL: {
    readonly written: string;
    /** The ids of channels that there are, without `last`. */
    readonly known: readonly string[];
    /** Whether it is one with settings of its own, and so not `last`. */
    readonly isFixed?: boolean;
  };
  MODEL_NOT_ALLOWED: {
    readonly written: string;
    readonly models: readonly string[];
    /** Aliases of models that are allowed. */
    readonly usable: readonly string[];
  };
  INVALID_RECIPIENT: {
    readonly channel: string;
    readonly to: string;
    readonly isRecipient: (to: string) => boolean;
  };
  TEMPLATE_SYNTAX:
    /** The block that is not closed, or by another name. */
    | { readonly wrong: 'close'; readonly block: string }
    | {
        readonly wrong: 'tag';
        readonly lacks: 'braces' | 'quote' | 'bracket' | 'parenthesis' | 'blank' | 'no-comma';
      }
    /** `got`: the parser's name of the token that it did not expect; `found`: its text. */
    | { readonly wrong: 'stop'; readonly got: string; readonly found: string };
  /** `sign`: how the block is opened: `#`, the `^` of its opposite, or the four braces of raw text. */
  TEMPLATE_UNKNOWN_HELPER: {
    readonly call: TemplateCall;
    readonly isBlock: boolean;
    readonly sign?: '#' | '^' | '{{';
  };
  TEMPLATE_HELPER_USAGE: HelperProblem | { readonly wrong: 'no-helper' };
  TEMPLATE_UNKNOWN_DATA: { readonly name: string; readonly known: readonly string[] };
}

/** What is wrong with the call of a helper, or with a block. */
export interface HelperProblem {
  readonly call: TemplateCall;
  readonly wrong: 'block' | 'one-value' | 'arity' | 'inline' | 'count' | 'argument' | 'zone' | 'order';
  readonly zone?: string;
}
