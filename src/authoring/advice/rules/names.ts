/** Names in a mapping that lead nowhere: channels, recipients, models. */
import { CHANNEL_ALIASES, LAST_CHANNEL, otherWay } from '../../../base/action.ts';
import { didYouMean } from '../../../base/document/document.ts';
import { say } from '../../../base/finding.ts';
import type { MappingFacts } from '../../../engine/mapping/facts.ts';
import { recipientHint } from '../recipients.ts';
import { hint, near, nearName } from '../rule.ts';

/** More models are not listed. */
const MAX_MODELS = 8;

type Channels = MappingFacts['UNKNOWN_CHANNEL'];

const channelsOf = ({ known, isFixed }: Channels): readonly string[] =>
  isFixed === true ? known : [LAST_CHANNEL, ...known];

const channelList = (channels: Channels): string =>
  `choose one of the channels: ${channelsOf(channels).join(' ')}`;

/** `slack:C123`, `#alerts`: the place on a platform, or both in one, where only the platform is named. */
function placeInChannel(channels: Channels): string | undefined {
  const { written, known } = channels;
  const [, platform = '', to = ''] = /^([a-z]+)\s*[:/]\s*(\S.*)$/i.exec(written) ?? [];
  const id = platform.toLowerCase();
  if (known.includes(id) || Object.hasOwn(CHANNEL_ALIASES, id)) {
    return `write channel: ${id} and to: ${JSON.stringify(to)}: channel is the platform alone, and "to" the place in it`;
  }
  if (!/^[#@+-]|^[CGDU][A-Z0-9]{7,}$|^\d{6,}$/.test(written)) return undefined;
  const example = written.startsWith('+') ? 'whatsapp' : 'slack';
  return `write the platform as channel, and the place in it as "to", e.g. channel: ${example} and to: ${JSON.stringify(written)}; ${channelList(channels)}`;
}

export const NAMES = [
  hint(
    'UNTRUSTED_ROUTING',
    ['from-the-request', 'certain'],
    ({ key }) =>
      say`write a fixed value; or add "trust: [${key}]" if only a sender that you trust can write it, as behind a signature`,
  ),
  hint('UNKNOWN_CHANNEL', ['other-way-of-delivery', 'certain'], ({ written }) =>
    otherWay(written.toLowerCase()),
  ),
  hint('UNKNOWN_CHANNEL', ['place-in-channel', 'certain'], placeInChannel),
  nearName('UNKNOWN_CHANNEL', ({ written, ...channels }) => {
    const names = [...channelsOf({ written, ...channels }), ...Object.keys(CHANNEL_ALIASES)];
    const to = didYouMean(written.toLowerCase(), names);
    return to === undefined ? undefined : { from: written, to };
  }),
  hint('UNKNOWN_CHANNEL', ['unknown-name', 'guess'], channelList),
  hint('INVALID_RECIPIENT', ['other-form', 'likely'], recipientHint),
  hint(
    'INVALID_RECIPIENT',
    ['unknown-form', 'guess'],
    ({ channel }) => `write "to" in that form, or remove it to use the default recipient of ${channel}`,
  ),
  nearName('MODEL_NOT_ALLOWED', ({ written, models, usable }) => near(written, [...models, ...usable])),
  hint('MODEL_NOT_ALLOWED', ['unknown-name', 'guess'], ({ models }) =>
    models.length === 0
      ? 'remove it: the list of models is empty, and no mapping may choose one'
      : `choose one of the models: ${models.slice(0, MAX_MODELS).join(', ')}${models.length > MAX_MODELS ? ', …' : ''}`,
  ),
];
