/* What is wrong with the settings of channels, with the key that was meant. */
import type { ChannelProblem } from '../channels/channels.ts';
import type { LoadedConfig } from '../config/config.ts';
import { didYouMean, replaceWithin, withEdit, type Diagnostic } from '../document/document.ts';

/** A channel with the settings that it cannot be without, as text to paste. */
export function channelBlock(channel: string, required: readonly string[]): string {
  const settings = required.map((key) => settingText(channel, key));
  return `${channel}: {${settings.length === 0 ? '…' : settings.join(', ')}}`;
}

/** A setting as a reference, whose variable is called after both: a setting need not be a secret for that. */
function settingText(channel: string, key: string): string {
  const name = `${channel}_${key.replaceAll(/(?=[A-Z])/g, '_')}`.replaceAll(/\W/g, '_').toUpperCase();
  return `${key}: '\${${name}}'`;
}

type Root = LoadedConfig['root'];

/** The findings; a key that is missing is none where it stands under another name. */
export function describeSettings(
  root: Root,
  problems: readonly ChannelProblem[],
  hintOnRecipient: (channel: string, to: string) => string | undefined,
): readonly Diagnostic[] {
  const renamed = problems.map((problem) => ({
    channel: problem.channel,
    key: isWebhook(problem) ? 'botToken' : meantKey(problem),
  }));
  return problems
    .filter(
      ({ channel, key }) =>
        isGiven(root, channel, key) ||
        !renamed.some((other) => other.channel === channel && other.key === key),
    )
    .map((problem) => {
      const found = settingsProblem(root, problem);
      const to = problem.key === 'to' ? root.at(['channels', problem.channel, 'to']).value : undefined;
      const hint = typeof to === 'string' ? hintOnRecipient(problem.channel, to) : undefined;
      return hint === undefined || problem.known !== undefined ? found : { ...found, hint };
    });
}

function isGiven(root: Root, channel: string, key: string | undefined): boolean {
  return key === undefined || root.at(['channels', channel, key]).value !== undefined;
}

function settingsProblem(root: Root, problem: ChannelProblem): Diagnostic {
  const { channel, key, message, known } = problem;
  const path = key === undefined ? ['channels', channel] : ['channels', channel, key];
  const at = root.place(path, known === undefined ? 'value' : 'key');
  const meant = meantKey(problem);
  const isFree = meant !== undefined && !isGiven(root, channel, meant);
  const found: Diagnostic = {
    severity: 'error',
    code: 'CHANNEL_SETTINGS',
    // What is wrong with a recipient is a whole sentence.
    message: key === undefined ? message : `${key}${key === 'to' ? ':' : ''} ${message}`,
    at,
    hint: channelHint(root, problem, meant),
  };
  return withEdit(found, isFree && key !== undefined ? replaceWithin(at, key, meant) : undefined);
}

function channelHint(root: Root, { channel, key, known }: ChannelProblem, meant: string | undefined): string {
  if (key === undefined)
    return `run that command where Sluice is installed, with -g where it is installed globally, or remove channels.${channel}`;
  if (known !== undefined) {
    if (meant !== undefined) return `did you mean "${meant}"?`;
    return isWebhook({ key, known })
      ? `an address of an incoming webhook is not used here: remove it; messages are sent by a bot, botToken: \${NAME}, to the recipient in "to"`
      : 'remove it';
  }
  if (isGiven(root, channel, key))
    return `correct channels.${channel}.${key}; sluice channels check tries it on the platform`;
  return `add ${settingText(channel, key)} to channels.${channel}, and set that variable where the service starts`;
}

/** The address of an incoming webhook, where a bot sends the messages here. */
const isWebhook = ({ key = '', known = [] }: Pick<ChannelProblem, 'key' | 'known'>): boolean =>
  /url|webhook/i.test(key) && known.includes('botToken');

const SECRET = /token|secret|password|api_?key/i;
const RECIPIENT =
  /^(?:chat|channel|room|user|phone|group|recipient|target)(?:_?id|_?number)?$|^default_?(?:to|chat|channel)$/i;

/** The key that was meant by one that a channel does not know: nearly so spelt, or the only one of its kind. */
function meantKey({ key, known }: ChannelProblem): string | undefined {
  if (key === undefined || known === undefined) return undefined;
  const near = didYouMean(key, known);
  if (near !== undefined) return near;
  if (RECIPIENT.test(key)) return known.find((name) => name === 'to');
  const secrets = SECRET.test(key) ? known.filter((name) => SECRET.test(name)) : [];
  return secrets.length === 1 ? secrets[0] : undefined;
}
