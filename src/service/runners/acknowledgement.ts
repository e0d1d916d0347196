/** The answer of an agent that has nothing to say to anyone. */
export const HEARTBEAT_OK = 'HEARTBEAT_OK';

/** The answer of an OpenClaw agent that wants nothing to be said. */
const NO_REPLY = 'NO_REPLY';

/** HTML tags and comments without nesting, and character references; neither class can backtrack. */
const MARKUP = /<[!/a-z][^<>]*>|&(?:[a-z]{1,31}|#\d{1,7}|#x[\da-f]{1,6});/giu;
/** White space, punctuation, invisible characters, and the ASCII symbols that Markdown is written with. */
const DECORATION = /[\p{Z}\p{P}\p{Cc}\p{Cf}$+<=>^`|~]/gu;

/**
 * Says whether a reply is only an acknowledgement: `HEARTBEAT_OK` (or `NO_REPLY`) and nothing else once markup, white
 * space and punctuation are taken away. Anything more, an emoji too, is a reply somebody may be waiting for.
 */
export function isAcknowledgement(reply: string): boolean {
  const bare = reply.replace(MARKUP, ' ').replaceAll('\\_', '_');
  const rest = bare.replaceAll(HEARTBEAT_OK, ' ').replaceAll(NO_REPLY, ' ');
  return rest !== bare && rest.replace(DECORATION, '') === '';
}
