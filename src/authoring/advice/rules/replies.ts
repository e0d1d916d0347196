/** Finds replies, notifications and events that reach nobody. */
import { channelIdOf, FALLBACK_CHANNEL, LAST_CHANNEL } from '../../../base/action.ts';
import { isReference, recipientProblem, requiredSettings } from '../../../service/channels/channels.ts';
import type { Place } from '../../../base/document/document.ts';
import { inWords } from '../../../base/document/facts.ts';
import { say } from '../../../base/finding.ts';
import type { GenerationSubjects } from '../../../service/generation/facts.ts';
import type { CompiledMapping } from '../../../engine/mapping/mapping.ts';
import type { LookFinding, Look } from '../rule.ts';
import { channelBlock } from './channel-settings.ts';
import { exampleRecipient } from './names.ts';

type Whole = GenerationSubjects['generation'];
type ServiceSettings = Whole['config']['settings'];

function withoutSettings({ config, catalog, mappings }: Whole): readonly LookFinding[] {
  const { settings, root, openclawChannels } = config;
  // Nobody answers and nothing is delivered, which OPENCLAW_NOT_FOUND reports.
  if (settings.hooks.behaviours.findsRunner && settings.gateway.runner === 'echo') return [];
  const configured = Object.keys(settings.channels);
  const { channel: main } = settings.gateway.main;
  const named: readonly NamedChannel[] = [
    ...(main === undefined
      ? []
      : [{ name: main, at: root.place(['gateway', 'main', 'channel']), what: 'replies' }]),
    ...mappings.flatMap(namedChannels),
  ];
  const passedOn = new Set<string>();
  return named.flatMap(({ name, at, what, passer }): readonly LookFinding[] => {
    const id = channelIdOf(name);
    if (id === LAST_CHANNEL || configured.includes(id)) return [];
    const isPassedOn = passer !== undefined && isOfGateway(passer, settings);
    if (isPassedOn || (passer !== undefined && openclawChannels.includes(id))) {
      // A channel that the gateway's own file sets up is reported there.
      if (passedOn.has(id) || root.at(['channels', id]).value !== undefined) return [];
      passedOn.add(id);
      const found = say`replies to ${id} are not sent from here, where it is not set up`;
      return [
        isPassedOn
          ? {
              message: say`${found}: the summary in the main session of the gateway holds each, and says so`,
              at,
              hint: say`keep it where the gateway has this channel and passes them on, or write deliver: false`,
            }
          : {
              message: say`${found}: only the gateway has this channel`,
              at,
              hint: say`let the gateway's own agent take these runs, choose another channel, or write deliver: false`,
            },
      ];
    }
    const block = channelBlock(id, requiredSettings(catalog, id));
    return [
      {
        message: say`${what} go to ${id}, which has no settings: each delivery fails with not_configured`,
        at,
        hint:
          configured.length === 0
            ? say`write channels: {${block}} in the configuration${what === 'replies' ? ', or deliver: false where no reply is to be sent' : ''}`
            : say`add ${block} below channels, or choose one of the channels that are configured: ${configured.join(', ')}`,
      },
    ];
  });
}

/** Whether the main session of an OpenClaw gateway handles replies to a channel that is not set up here. */
const isOfGateway = (
  { runner, fallback, summary }: CompiledMapping,
  { gateway, hooks }: ServiceSettings,
): boolean =>
  gateway.runners[runner ?? gateway.runner]?.kind === 'openclaw' &&
  fallback === undefined &&
  (summary ?? hooks.defaults.summary) !== 'never';

interface NamedChannel {
  readonly name: string;
  readonly at: Place;
  readonly what: string;
  /** The mapping, where the main session handles what cannot be sent. */
  readonly passer?: CompiledMapping;
}

function namedChannels(mapping: CompiledMapping): readonly NamedChannel[] {
  const { action, at, channel, deliver, fallback, approve } = mapping;
  const asked = approve === undefined ? [] : [{ name: approve.channel, at, what: 'questions' }];
  const isNotice = action === 'notify';
  if (!isNotice && (action !== 'agent' || deliver === false)) return asked;
  const name = channel?.literal?.trim().toLowerCase() ?? '';
  const [what, passer] = isNotice ? ['notifications', {}] : ['replies', { passer: mapping }];
  return [
    ...asked,
    ...(name === '' || channel === undefined ? [] : [{ name, at: channel.at, what, ...passer }]),
    ...(fallback === undefined ? [] : [{ name: fallback.channel, at, what }]),
  ];
}

/** Another gateway draws its boundary around all it receives, the operator's own words included. */
function forwardedInstructions({ config, mappings }: Whole): readonly LookFinding[] {
  const { gateway } = config.settings;
  return mappings
    .filter(
      ({ action, instructions, runner = gateway.runner }) =>
        action === 'agent' && instructions !== undefined && gateway.runners[runner]?.kind === 'forward',
    )
    .map(({ id, at, runner = gateway.runner }) => ({
      isOfSafety: true,
      message: say`the instructions of "${id}" reach the agent as untrusted text: the gateway behind the runner ${runner} marks all it gets`,
      at,
      hint: say`use a runner that starts the agent itself; for an OpenClaw gateway that is kind: openclaw`,
    }));
}

/** Whether a reply goes to the channel and the recipient that were used last. */
const isLast = ({ channel }: CompiledMapping): boolean =>
  channel === undefined || ['', LAST_CHANNEL].includes(channel.literal?.trim().toLowerCase() ?? LAST_CHANNEL);

function undecidedChannel({ config: { settings }, mappings }: Whole): readonly LookFinding[] {
  const { channels, gateway, hooks } = settings;
  const configured = Object.keys(channels);
  if (gateway.main.channel !== undefined || configured.length < 2 || configured.includes(FALLBACK_CHANNEL))
    return [];
  return mappings
    .filter(
      (mapping) =>
        mapping.action === 'agent' &&
        (mapping.deliver ?? hooks.defaults.deliver) &&
        mapping.transform === undefined &&
        (mapping.channel === undefined || mapping.channel.literal !== undefined) &&
        isLast(mapping),
    )
    .map(({ id, at, channel }) => ({
      message: say`replies of "${id}" go to the channel that the main session used last; until it has used one they go nowhere, because ${configured.length} channels are configured and gateway.main names none`,
      at: channel?.at ?? at,
      hint: say`add channel: ${configured.join(' or channel: ')} to the mapping, or set gateway.main: {channel: ${configured[0] ?? ''}}`,
    }));
}

/**
 * Returns the channel that a mapping sends to for certain. A transform may decide otherwise, so such a
 * mapping counts as uncertain.
 */
function sendsTo(mapping: CompiledMapping, settings: ServiceSettings): string | undefined {
  const { action, deliver = settings.hooks.defaults.deliver, transform } = mapping;
  const isSent = transform === undefined && (action === 'notify' || (action === 'agent' && deliver));
  return isSent ? channelOf(mapping, settings) : undefined;
}

function channelOf({ channel }: CompiledMapping, { channels, gateway }: ServiceSettings): string | undefined {
  if (channel !== undefined && channel.literal === undefined) return undefined;
  const name = channelIdOf(channel?.literal?.trim().toLowerCase() ?? '');
  const configured = Object.keys(channels);
  const last = gateway.main.channel ?? (configured.length === 1 ? configured[0] : FALLBACK_CHANNEL);
  const id = name === '' || name === LAST_CHANNEL ? last : name;
  return id !== undefined && configured.includes(id) ? id : undefined;
}

const MAX_NAMED = 5;

/** A channel without recipients is one finding, at the first mapping that may name one. */
function withoutRecipient({ config: { settings }, catalog, mappings }: Whole): readonly LookFinding[] {
  // A recipient that a mapping names becomes the last one of its channel.
  const used = new Set(
    mappings.map((each) => (each.to && !isLast(each) ? channelOf(each, settings) : undefined)),
  );
  const silent = Map.groupBy(mappings, (mapping) => {
    const channel = mapping.to === undefined ? sendsTo(mapping, settings) : undefined;
    const isUsed =
      channel === undefined || hasRecipient(settings, channel) || (isLast(mapping) && used.has(channel));
    return isUsed ? undefined : channel;
  });
  return [...silent].flatMap(([channel, all]): readonly LookFinding[] => {
    const [first] = all;
    if (channel === undefined || first === undefined) return [];
    const ids = all.slice(0, MAX_NAMED).map(({ id }) => `"${id}"`);
    const more = all.length - ids.length;
    const isOne = all.length === 1;
    return [
      {
        message: say`what ${inWords([...ids, ...(more > 0 ? [`${more} more`] : [])])} ${isOne ? 'sends' : 'send'} goes to ${channel}, and to nobody there: each delivery fails with no_recipient`,
        at: first.channel?.at ?? first.at,
        hint: say`add ${exampleOf(catalog, channel)} to ${isOne ? 'the mapping' : 'each mapping'}, or to channels.${channel} for all; where nothing is to be sent, deliver: false`,
      },
    ];
  });
}

/** Whether messages without a recipient of their own reach somebody on a channel. */
const hasRecipient = ({ channels, gateway: { main } }: ServiceSettings, channel: string): boolean =>
  channels[channel]?.['to'] !== undefined || (main.channel === channel && main.to !== undefined);

function exampleOf(catalog: Whole['catalog'], channel: string): string {
  const to = exampleRecipient((written) => recipientProblem(catalog, channel, written) === undefined);
  return `to: ${to} with the recipient`;
}

function unheardQuestions({ config: { settings }, catalog, mappings }: Whole): readonly LookFinding[] {
  return mappings.flatMap(({ id, at, approve }): readonly LookFinding[] => {
    const channel = approve?.channel ?? '';
    if (approve?.to !== undefined || settings.channels[channel] === undefined) return [];
    if (hasRecipient(settings, channel)) return [];
    return [
      {
        message: say`the question of "${id}" goes to ${channel}, and to nobody there: it fails with no_recipient, and each run is given up`,
        at,
        hint: say`add ${exampleOf(catalog, channel)} to approve, or to channels.${channel} for all`,
      },
    ];
  });
}

/**
 * A recipient beside `last` depends on the channel that `last` leads to. One beside the name of a channel
 * was judged with the mapping.
 */
function wrongRecipient({ config: { settings }, catalog, mappings }: Whole): readonly LookFinding[] {
  return mappings.flatMap((mapping): readonly LookFinding[] => {
    const { to } = mapping;
    const channel = isLast(mapping) ? sendsTo(mapping, settings) : undefined;
    const literal = to?.literal?.trim() ?? '';
    if (to === undefined || channel === undefined || literal === '' || isReference(literal)) return [];
    const problem = recipientProblem(catalog, channel, literal);
    if (problem === undefined) return [];
    const isRecipient = (text: string): boolean => recipientProblem(catalog, channel, text) === undefined;
    return [
      {
        message: say`"${literal.slice(0, 80)}" is not a recipient on ${channel}, where it is sent to: ${problem}`,
        at: to.at,
        facts: { channel, to: literal, isRecipient },
      },
    ];
  });
}

export const REPLIES: readonly Look[] = [
  { on: 'generation', codes: ['CHANNEL_NOT_CONFIGURED'], find: withoutSettings },
  { on: 'generation', codes: ['INSTRUCTIONS_FORWARDED'], find: forwardedInstructions },
  { on: 'generation', codes: ['CHANNEL_UNDECIDED'], find: undecidedChannel },
  { on: 'generation', codes: ['RECIPIENT_MISSING'], find: withoutRecipient },
  { on: 'generation', codes: ['RECIPIENT_MISSING'], find: unheardQuestions },
  { on: 'generation', codes: ['INVALID_RECIPIENT'], find: wrongRecipient },
];
