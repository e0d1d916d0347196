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
  /** Whoever chooses a session key needs leave of the file, except where a mapping or a transform vouches for it. */
  restrictsSessionKeys: true,
  /** A session key of a mapping may be long or have several lines. */
  shortensSessionKeys: true,
  foldsCaseOfPrefixes: true,
  /** Runs under the default key follow each other, and each starts without history. */
  forgetsUnderDefaultKey: true,
  /** A wake is for the main session of an agent, which has to be there and allowed. */
  wakesAgent: true,
  /** A body `null` is an empty one. */
  takesNullBody: true,
  /** `idempotencyKey` and `waitForCompletion` in the body, and the gateway's own rules for such keys. */
  readsGatewayFields: true,

  /** Keys that its gateway knows; others are ignored, and are told. */
  hasGatewayKeys: true,
  /** An error in a mapping takes only this mapping out. */
  containsErrors: true,
  /** What has no effect is a warning: the gateway starts with it. */
  toleratesUnused: true,
  /** A mapping of ours that stands before is meant to take the requests. */
  givesWay: true,
  /** Its mappings share their conversations. */
  sharesConversations: true,
  /** Whoever sends a request may decide where a reply goes, and what runs. */
  trustsSenders: true,
  /** Templates have paths alone. */
  hasPathTemplates: true,
  /** In a batch the list holds the one element, so that `messages[0]` is it. */
  putsElementInList: true,
  /** A batch of nothing is skipped, whatever stands in place of its list. */
  takesAnyList: true,
  /** A transform gets `url` as an object. */
  parsesUrl: true,
  /** A text or a number as the result of a transform leaves the action of the mapping. */
  ignoresPlainResults: true,
} as const;

/** What a file, a mapping or the service has of them; nothing where all is our own. */
export type Behaviours = Partial<typeof OPENCLAW>;
