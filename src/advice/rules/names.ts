/** Names in a mapping that lead nowhere: channels, recipients, models. */
import { CHANNEL_ALIASES, LAST_CHANNEL, otherWay } from '../../action.ts';
import { didYouMean, replaceWithin } from '../../document/document.ts';
import { quoted, say, type Finding } from '../../finding.ts';
import { recipientHint } from '../recipients.ts';
import { rule, type Fix } from '../rule.ts';

/** More models are not listed. */
const MAX_MODELS = 8;

/** The written name replaced by one that there is. */
function renamed(written: string, near: string, { at }: Finding): Fix | undefined {
  const edit = at && replaceWithin(at, written, near);
  return edit && { edit };
}

const channelList = (known: readonly string[]): string =>
  `the channels are: ${[LAST_CHANNEL, ...known].join(' ')}`;

/** `slack:C123`, `#alerts`: the place on a platform, or both in one, where only the platform is named. */
function placeInChannel(written: string, known: readonly string[]): string | undefined {
  const [, platform = '', to = ''] = /^([a-z]+)\s*[:/]\s*(\S.*)$/i.exec(written) ?? [];
  const id = platform.toLowerCase();
  if (known.includes(id) || Object.hasOwn(CHANNEL_ALIASES, id)) {
    return `channel is the platform alone, and "to" the place in it: channel: ${id} and to: ${JSON.stringify(to)}`;
  }
  if (!/^[#@+-]|^[CGDU][A-Z0-9]{7,}$|^\d{6,}$/.test(written)) return undefined;
  const example = written.startsWith('+') ? 'whatsapp' : 'slack';
  return `channel is the platform, and "to" the place in it, e.g. channel: ${example} and to: ${JSON.stringify(written)}; ${channelList(known)}`;
}

export const NAMES = [
  rule({
    on: 'UNKNOWN_CHANNEL',
    name: 'other-way-of-delivery',
    confidence: 'certain',
    find: ({ written }) => otherWay(written.toLowerCase()),
    say: quoted,
  }),
  rule({
    on: 'UNKNOWN_CHANNEL',
    name: 'place-in-channel',
    confidence: 'certain',
    find: ({ written, known }) => placeInChannel(written, known),
    say: quoted,
  }),
  rule({
    on: 'UNKNOWN_CHANNEL',
    name: 'near-name',
    confidence: 'likely',
    find: ({ written, known }) => {
      const near = didYouMean(written.toLowerCase(), [
        LAST_CHANNEL,
        ...known,
        ...Object.keys(CHANNEL_ALIASES),
      ]);
      return near === undefined ? undefined : { written, near };
    },
    say: ({ near }) => say`did you mean "${near}"?`,
    fix: ({ written, near }, finding) => renamed(written, near, finding),
  }),
  rule({
    on: 'UNKNOWN_CHANNEL',
    name: 'unknown-name',
    confidence: 'guess',
    find: ({ known }) => known,
    say: (known) => quoted(channelList(known)),
  }),
  rule({
    on: 'INVALID_RECIPIENT',
    name: 'other-form',
    confidence: 'likely',
    find: recipientHint,
    say: quoted,
  }),
  rule({
    on: 'INVALID_RECIPIENT',
    name: 'unknown-form',
    confidence: 'guess',
    find: ({ channel }) => channel,
    say: (channel) => say`write "to" in that form, or remove it to use the default recipient of ${channel}`,
  }),
  rule({
    on: 'MODEL_NOT_ALLOWED',
    name: 'near-name',
    confidence: 'likely',
    find: ({ written, models, usable }) => {
      const near = didYouMean(written, [...models, ...usable]);
      return near === undefined ? undefined : { written, near };
    },
    say: ({ near }) => say`did you mean "${near}"?`,
    fix: ({ written, near }, finding) => renamed(written, near, finding),
  }),
  rule({
    on: 'MODEL_NOT_ALLOWED',
    name: 'unknown-name',
    confidence: 'guess',
    find: ({ models }) => models,
    say: (models) =>
      models.length === 0
        ? say`the list is empty: no mapping may choose a model`
        : say`allowed: ${models.slice(0, MAX_MODELS).join(', ')}${models.length > MAX_MODELS ? ', …' : ''}`,
  }),
];
