/* What is wrong with the settings of channels, with the key that was meant. */
import type { ChannelProblem } from '../channels/channels.ts';
import type { LoadedConfig } from '../config/config.ts';
import { channelIdOf } from '../action.ts';
import { didYouMean, inWords, replaceWithin, withEdit, type Diagnostic } from '../document/document.ts';
import { isJsonObject } from '../json.ts';

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

/** The findings; a key that is missing is none where it stands under another name, and those that are missing are one. */
export function describeSettings(
  root: Root,
  problems: readonly ChannelProblem[],
  hintOnRecipient: (channel: string, to: string) => string | undefined,
): readonly Diagnostic[] {
  const told = problems.map((problem) => ({ ...problem, as: writtenName(root, problem.channel) }));
  const isMissing = ({ as, key }: Problem): boolean => !isGiven(root, as, key);
  return told
    .filter((problem, at) => {
      if (!isMissing(problem)) return true;
      const others = told.filter(({ as }) => as === problem.as);
      const isRenamed = others.some((other) => isWebhook(other) || meantKey(other) === problem.key);
      return !isRenamed && told.findIndex((other) => other.as === problem.as && isMissing(other)) === at;
    })
    .map((problem) => {
      const missing = told.filter((other) => other.as === problem.as && isMissing(other));
      const found = settingsProblem(root, problem, missing);
      const to = problem.key === 'to' ? root.at(['channels', problem.as, 'to']).value : undefined;
      const hint = typeof to === 'string' ? hintOnRecipient(problem.channel, to) : undefined;
      return hint === undefined || problem.known !== undefined ? found : { ...found, hint };
    });
}

/** With the name that the channel has in the file. */
type Problem = ChannelProblem & { readonly as: string };

/** The name of a channel as it is written: in another case, or another spelling of it. */
function writtenName(root: Root, channel: string): string {
  const { value } = root.at(['channels']);
  const names = isJsonObject(value) ? Object.keys(value) : [];
  return names.find((name) => channelIdOf(name.trim().toLowerCase()) === channel) ?? channel;
}

function isGiven(root: Root, channel: string, key: string | undefined): boolean {
  return key === undefined || root.at(['channels', channel, key]).value !== undefined;
}

function settingsProblem(root: Root, problem: Problem, missing: readonly Problem[]): Diagnostic {
  const { as, key, message, known } = problem;
  const path = key === undefined ? ['channels', as] : ['channels', as, key];
  const at = root.place(path, known === undefined ? 'value' : 'key');
  const meant = meantKey(problem);
  const isFree = meant !== undefined && !isGiven(root, as, meant);
  const keys = missing.flatMap((other) => other.key ?? []);
  const found: Diagnostic = {
    severity: 'error',
    code: 'CHANNEL_SETTINGS',
    message:
      missing.includes(problem) && keys.length > 1
        ? `${inWords(keys)} are required`
        : // What is wrong with a recipient is a whole sentence.
          key === undefined
          ? message
          : `${key}${key === 'to' ? ':' : ''} ${message}`,
    at,
    hint: missing.includes(problem) ? missingHint(problem, keys) : channelHint(root, problem, meant),
  };
  return withEdit(found, isFree && key !== undefined ? replaceWithin(at, key, meant) : undefined);
}

/** What the tokens of bots are, and what they need. */
const TOKENS: Readonly<Record<string, string>> = {
  slack: ', the token xoxb-… of an app with the scope chat:write, which is invited to the channel',
  discord: ', the token of a bot that was added to the server',
  telegram: ', the token that @BotFather issues',
};

function missingHint({ as, channel }: Problem, keys: readonly string[]): string {
  const texts = keys.map((key) => settingText(channel, key)).join(', ');
  return `add ${texts} to channels.${as}${TOKENS[channel] ?? ''}, and set ${keys.length === 1 ? 'that variable' : 'those variables'} where the service starts`;
}

function channelHint(root: Root, problem: Problem, meant: string | undefined): string {
  const { as, key, known } = problem;
  if (key === undefined)
    return `run that command where Sluice is installed, with -g where it is installed globally, or remove channels.${as}`;
  if (known === undefined)
    return `correct channels.${as}.${key}; sluice channels check tries it on the platform`;
  if (isWebhook(problem)) return webhookHint(problem, root);
  return meant === undefined ? 'remove it' : `did you mean "${meant}"?`;
}

/** A bot in the place of an incoming webhook. */
function webhookHint({ as, channel, known = [] }: Problem, root: Root): string {
  const texts = known
    .filter((key) => BOT.test(key) && !isGiven(root, as, key))
    .map((key) => settingText(channel, key));
  const instead = texts.length === 0 ? 'remove it' : `write ${texts.join(', ')} in its place`;
  return `${instead}${TOKENS[channel] ?? ''}: messages are sent by a bot to the recipient in "to", never to the address of an incoming webhook`;
}

/** Settings by which a bot is known. */
const BOT = /^(?:botToken|appId|appPassword|tenantId)$/;

/** The address of an incoming webhook, where a bot sends the messages here. */
const isWebhook = (problem: Pick<ChannelProblem, 'key' | 'known'>): boolean =>
  /^url$|webhook/i.test(problem.key ?? '') &&
  meantKey(problem) === undefined &&
  problem.known?.some((key) => BOT.test(key)) === true;

const SECRET = /token|secret|password|api_?key/i;
const RECIPIENT =
  /^(?:chat|channel|room|user|phone|group|recipient|target)(?:_?id|_?number)?$|^default_?(?:to|chat|channel)$/i;

/** The key that was meant by one that a channel does not know: nearly so spelt, or the only one of its kind. */
function meantKey({ key, known }: Pick<ChannelProblem, 'key' | 'known'>): string | undefined {
  if (key === undefined || known === undefined) return undefined;
  const near = didYouMean(key, known);
  if (near !== undefined) return near;
  if (RECIPIENT.test(key)) return known.find((name) => name === 'to');
  const secrets = SECRET.test(key) ? known.filter((name) => SECRET.test(name)) : [];
  return secrets.length === 1 ? secrets[0] : undefined;
}
