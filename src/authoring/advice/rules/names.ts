import { CHANNEL_ALIASES, LAST_CHANNEL, otherWay } from '../../../base/action.ts';
import { replaceWithin, didYouMean } from '../../../base/document/document.ts';
import { say } from '../../../base/finding.ts';
import type { MappingFacts } from '../../../engine/mapping/facts.ts';
import { nearName, oneOf, type Rules } from '../rule.ts';

const MAX_MODELS = 8;

const EXAMPLES = ['#general', '-1001234567890', '+15551234567', '123456789012345678', 'owner/repository#123'];

/** Shows how a recipient looks on a channel. */
export const exampleRecipient = (isRecipient: MappingFacts['INVALID_RECIPIENT']['isRecipient']): string =>
  JSON.stringify(EXAMPLES.find(isRecipient) ?? '…');

type Channels = MappingFacts['UNKNOWN_CHANNEL'];

const channelsOf = ({ known, isFixed }: Channels): readonly string[] =>
  isFixed === true ? known : [LAST_CHANNEL, ...known];

function placeInChannel({ written, known }: Channels): string | undefined {
  const [, platform = '', to = ''] = /^([a-z]+)\s*[:/]\s*(\S.*)$/i.exec(written) ?? [];
  const id = platform.toLowerCase();
  return known.includes(id) || Object.hasOwn(CHANNEL_ALIASES, id)
    ? `write channel: ${id} and to: ${JSON.stringify(to)}: channel is the platform alone, and "to" the place in it`
    : undefined;
}

export const NAMES: Rules = {
  UNTRUSTED_ROUTING: [
    ({ key }) =>
      `write a fixed value; or add "trust: [${key}]" if only a sender that you trust can write it, as behind a signature`,
  ],
  UNKNOWN_CHANNEL: [
    ({ written }) => otherWay(written.toLowerCase()),
    placeInChannel,
    ({ written }) =>
      /^[#@]/.test(written)
        ? `write channel: slack, or the platform that has it, and to: ${JSON.stringify(written)}`
        : undefined,
    (channels, { at }) => {
      const names = [...channelsOf(channels), ...Object.keys(CHANNEL_ALIASES)];
      const to = didYouMean(channels.written.toLowerCase(), names);
      return to && { hint: say`did you mean "${to}"?`, edit: at && replaceWithin(at, channels.written, to) };
    },
    (channels) => `choose one of the channels: ${channelsOf(channels).join(' ')}`,
  ],
  INVALID_RECIPIENT: [
    ({ channel, isRecipient }) =>
      `write "to" in that form, such as ${exampleRecipient(isRecipient)}, or remove it to use the default recipient of ${channel}`,
  ],
  MODEL_NOT_ALLOWED: [
    ({ written, models, usable }, finding) => nearName(written, [...models, ...usable], finding),
    ({ models }) =>
      models.length === 0
        ? 'remove it: the list of models is empty, and no mapping may choose one'
        : oneOf('models', [...models.slice(0, MAX_MODELS), ...(models.length > MAX_MODELS ? ['…'] : [])]),
  ],
};
