/*
 * Replies and notifications that have a channel and nobody on it: what the mapping, the settings of the channel and
 * gateway.main leave open together.
 */
import { exampleRecipient } from '../advice/recipients.ts';
import { say } from '../finding.ts';
import { channelIdOf, FALLBACK_CHANNEL, LAST_CHANNEL } from '../action.ts';
import { isReference, recipientProblem, type ChannelCatalog } from '../channels/channels.ts';
import type { LoadedConfig } from '../config/config.ts';
import { inWords, type Finding } from '../document/document.ts';
import type { CompiledMapping } from '../mapping/mapping.ts';

type Settings = LoadedConfig['settings'];

/** A channel without recipients is one finding, at the first mapping that may name one. */
export function findRecipientProblems(
  { settings }: Pick<LoadedConfig, 'settings'>,
  catalog: ChannelCatalog,
  mappings: readonly CompiledMapping[],
): readonly Finding[] {
  const nobody = new Map<string, CompiledMapping[]>();
  const wrong: Finding[] = [];
  // Channels that a mapping names with a recipient, who then is the last one.
  const used = new Set(
    mappings.flatMap((each) =>
      each.to === undefined || isLast(each) ? [] : (channelOf(each, settings) ?? []),
    ),
  );
  for (const mapping of mappings) {
    const channel = sends(mapping, settings) ? channelOf(mapping, settings) : undefined;
    if (channel === undefined) continue;
    if (mapping.to !== undefined) wrong.push(...wrongRecipient(mapping, channel, catalog));
    else if (!hasRecipient(channel, settings) && !(isLast(mapping) && used.has(channel)))
      nobody.set(channel, [...(nobody.get(channel) ?? []), mapping]);
  }
  const missing = [...nobody].map(([channel, silent]) =>
    withoutRecipient(silent, channel, exampleRecipient(recipientTest(catalog, channel))),
  );
  return [...missing, ...wrong];
}

/** A recipient beside `last`, which leads to one channel; one beside the name of a channel was judged with the mapping. */
function wrongRecipient(
  mapping: CompiledMapping,
  channel: string,
  catalog: ChannelCatalog,
): readonly Finding[] {
  const { to } = mapping;
  const literal = to?.literal?.trim() ?? '';
  if (to === undefined || !isLast(mapping) || literal === '' || isReference(literal)) return [];
  const problem = recipientProblem(catalog, channel, literal);
  if (problem === undefined) return [];
  return [
    {
      severity: 'warning',
      code: 'INVALID_RECIPIENT',
      message: say`"${literal.slice(0, 80)}" is not a recipient on ${channel}, where it is sent to: ${problem}`,
      at: to.at,
      facts: { channel, to: literal, isRecipient: recipientTest(catalog, channel) },
    },
  ];
}

/** Whether a channel takes a recipient. */
export const recipientTest =
  (catalog: ChannelCatalog, channel: string) =>
  (to: string): boolean =>
    recipientProblem(catalog, channel, to) === undefined;

/** Whether it goes to the channel and the recipient that were used last. */
const isLast = ({ channel }: CompiledMapping): boolean =>
  channel === undefined || ['', LAST_CHANNEL].includes(channel.literal?.trim().toLowerCase() ?? LAST_CHANNEL);

/** What a transform returns may say where it goes. */
function sends({ action, deliver, transform }: CompiledMapping, { hooks }: Settings): boolean {
  if (transform !== undefined) return false;
  return action === 'notify' || (action === 'agent' && (deliver ?? hooks.defaults.deliver));
}

/** The channel that is set up, and that a mapping leads to for certain. */
function channelOf({ channel }: CompiledMapping, { channels, gateway }: Settings): string | undefined {
  if (channel !== undefined && channel.literal === undefined) return undefined;
  const name = channelIdOf(channel?.literal?.trim().toLowerCase() ?? '');
  const configured = Object.keys(channels);
  const last = gateway.main.channel ?? (configured.length === 1 ? configured[0] : FALLBACK_CHANNEL);
  const id = name === '' || name === LAST_CHANNEL ? last : name;
  return id !== undefined && configured.includes(id) ? id : undefined;
}

function hasRecipient(channel: string, { channels, gateway: { main } }: Settings): boolean {
  return channels[channel]?.['to'] !== undefined || (main.channel === channel && main.to !== undefined);
}

function withoutRecipient(silent: readonly CompiledMapping[], name: string, example: string): Finding {
  const [first] = silent;
  const ids = silent.slice(0, MAX_NAMED).map(({ id }) => `"${id}"`);
  const more = silent.length - ids.length;
  const named = inWords([...ids, ...(more > 0 ? [`${more} more`] : [])]);
  const to = `to: ${JSON.stringify(example)}`;
  return {
    severity: 'warning',
    code: 'RECIPIENT_MISSING',
    message: say`what ${named} ${silent.length === 1 ? 'sends' : 'send'} goes to ${name}, and to nobody there: each delivery fails with no_recipient`,
    ...(first === undefined ? {} : { at: first.channel?.at ?? first.at }),
    hint: say`add ${to} with the recipient to ${silent.length === 1 ? 'the mapping' : 'each mapping'}, or to channels.${name} for all; where nothing is to be sent, deliver: false`,
  };
}

/** Of more mappings only their number is told. */
const MAX_NAMED = 5;
