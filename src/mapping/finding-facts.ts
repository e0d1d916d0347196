/** What a finding of a mapping says beside its place, by code. Texts are the operator's own. */
export interface MappingFacts {
  UNKNOWN_CHANNEL: {
    /** As it is written. */
    readonly written: string;
    /** The ids of channels that there are, without `last`. */
    readonly known: readonly string[];
  };
  MODEL_NOT_ALLOWED: {
    readonly written: string;
    /** What the allow-list has. */
    readonly models: readonly string[];
    /** Aliases of models that are allowed. */
    readonly usable: readonly string[];
  };
  INVALID_RECIPIENT: {
    /** The id of the channel. */
    readonly channel: string;
    /** As it is written. */
    readonly to: string;
    /** Whether the channel takes it. */
    readonly isRecipient: (to: string) => boolean;
  };
}
