/**
 * What an OpenClaw file means otherwise than one of ours, as its gateway does. It is said once, where the file is read,
 * and carried by its mappings and by the settings of the service: the other modules ask for one of these by its name,
 * never for the kind of the file.
 */
export const OPENCLAW = {
  /** Where transforms stand if the file does not say it. */
  transformsFolder: 'hooks/transforms',
  /** Bytes of a body on the path `gmail`: 100 mails of 20,000 bytes, escaped, with their metadata. */
  gmailBodyBytes: 100 * (3 * 20_000 + 8192),
  /** Where no runner is named, the agent is the gateway's own. */
  findsRunner: true,
  /** Wrong types are taken with a warning, and keys of the main session are put under `hook:`. */
  isLenient: true,
  /**
   * Whoever chooses a session key needs leave of the file, except where a mapping or a transform vouches for it; a key of a
   * mapping may be long or have several lines; prefixes count in any case; runs under the default key follow each other,
   * and each starts without history.
   */
  hasGatewaySessionKeys: true,
  /** A wake is for the main session of an agent, which has to be there and allowed. */
  wakesAgent: true,
  /** A body `null` is an empty one; `idempotencyKey` and `waitForCompletion` in it follow the gateway's own rules. */
  readsGatewayBodies: true,

  /** Only keys that its gateway knows and templates of paths alone are allowed; all else is reported. */
  hasGatewayForm: true,
  /**
   * The gateway starts with a mistake: an error in a mapping takes only this mapping out, what has no effect is a warning,
   * and a mapping of ours that stands before is meant to take the requests.
   */
  toleratesMistakes: true,
  /** Mappings of an OpenClaw file share their conversations. */
  sharesConversations: true,
  /** Whoever sends a request may decide where a reply goes, and what runs. */
  trustsSenders: true,
  /** In a batch the list holds the one element, so that `messages[0]` is it; anything else in its place is no list. */
  hasGatewayBatches: true,
  /** A transform gets `url` as an object, and a text or a number as its result leaves the action of the mapping. */
  hasGatewayTransforms: true,
} as const;

/** What a file, a mapping or the service has of them; nothing where all is our own. */
export type Behaviours = Partial<typeof OPENCLAW>;
