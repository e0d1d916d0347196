import type { documentKind } from '../../base/document/document.ts';

/** What findings of the configuration say beside their place, by code. */
export interface ConfigFacts {
  /** What it is, and whether it has the name of a configuration. */
  NOT_A_CONFIGURATION: {
    readonly kind: Exclude<NonNullable<ReturnType<typeof documentKind>>, 'configuration'>;
    readonly isOwn: boolean;
  };
  UNKNOWN_AGENT: NameFacts;
  UNKNOWN_PRESET: NameFacts;
  UNKNOWN_RUNNER: {
    readonly written: string;
    readonly runners: readonly string[];
    /** Whether it is `gateway.runner`, which may be a runner itself. */
    readonly isMain: boolean;
  };
  /** With the model's provider, where it names one, and the providers of the runner. */
  MODEL_NOT_SERVED: { readonly provider: string | undefined; readonly known: readonly string[] };
  MISSING_VARIABLE: { readonly name: string };
  INVALID_REFERENCE: {
    /** A variable as another tool writes it, which would be the secret itself. */
    readonly literal?: string;
    /** A variable that holds no number or flag. */
    readonly value?: { readonly name: string; readonly wanted: string; readonly hasQuotes: boolean };
    /** What stands between the braces; it may be repeated. */
    readonly written?: string;
    /** A variable with a default behind it. */
    readonly withDefault?: { readonly variable: string };
  };
}

interface NameFacts {
  readonly written: string;
  readonly known: readonly string[];
}
