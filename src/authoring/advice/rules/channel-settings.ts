import { didYouMean } from '../../../base/document/document.ts';
import { longerWord } from '../../../base/document/facts.ts';
import type { Finding } from '../../../base/finding.ts';
import type { GenerationFacts } from '../../../service/generation/facts.ts';
import { exampleRecipient } from './names.ts';
import { nearName, type Advice, type Join, type Rules } from '../rule.ts';

type ChannelSetting = NonNullable<GenerationFacts['CHANNEL_SETTINGS']['setting']>;

/** Returns a channel with its required settings, as text to paste. */
export function channelBlock(channel: string, required: readonly string[]): string {
  const settings = required.map((key) => settingText(channel, key));
  return `${channel}: {${settings.length === 0 ? '…' : settings.join(', ')}}`;
}

/** The variable is called after channel and key; a setting need not be a secret for that. */
function settingText(channel: string, key: string): string {
  const name = `${channel}_${key.replaceAll(/(?=[A-Z])/g, '_')}`.replaceAll(/\W/g, '_').toUpperCase();
  return `${key}: '\${${name}}'`;
}

const isGiven = ({ root, as }: ChannelSetting, key: string): boolean =>
  root.at(['channels', as, key]).value !== undefined;

function nearKey(setting: ChannelSetting): string | undefined {
  const { key, known } = setting.problem;
  const near = key && known && (didYouMean(key, known) ?? longerWord(key, known));
  // Two keys of one name would be the next finding.
  return near !== undefined && isGiven(setting, near) ? undefined : near;
}

const isMissing = (setting: ChannelSetting): boolean =>
  setting.problem.key !== undefined && !isGiven(setting, setting.problem.key);

function settingOf(finding: Finding): ChannelSetting | undefined {
  const facts: GenerationFacts['CHANNEL_SETTINGS'] = finding.facts ?? {};
  return facts.setting;
}

/** A key that stands there under another name is not missing. */
export const channelSettings: Join = {
  on: ['CHANNEL_SETTINGS'],
  join: (found) => {
    const settings = found.flatMap((each) => settingOf(each) ?? []);
    return found.filter((each) => {
      const setting = settingOf(each);
      if (setting === undefined || !isMissing(setting)) return true;
      return !settings.some((other) => other.as === setting.as && nearKey(other) === setting.problem.key);
    });
  },
};

export const CHANNEL_RULES: Rules = {
  CHANNEL_SETTINGS: [
    ({ main }) =>
      main &&
      (main.wrong === undefined
        ? 'set gateway.main.channel, or set `to` in the settings of the channel instead'
        : `write the recipient in that form, such as ${exampleRecipient(main.wrong.isRecipient)}, or remove gateway.main.to`),
    ({ setting }, finding) => setting && adviceOn(setting, finding),
  ],
};

function adviceOn(setting: ChannelSetting, finding: Finding): Advice {
  const { as, problem, isRecipient } = setting;
  const { channel, key, known } = problem;
  if (key === undefined)
    return `run that command where Sluice is installed, with -g where it is installed globally, or remove channels.${as}`;
  const near = nearKey(setting);
  if (near !== undefined) return nearName(key, [near], finding) ?? `did you mean "${near}"?`;
  if (known !== undefined) return 'remove it, or write one of those settings in its place';
  return isMissing(setting)
    ? `add ${settingText(channel, key)} to channels.${as}, and set that variable where the service starts`
    : `correct channels.${as}.${key}${key === 'to' ? `, such as ${exampleRecipient(isRecipient)}` : ''}; sluice channels check tries it on the platform`;
}
