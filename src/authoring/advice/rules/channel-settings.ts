/** Settings of channels that are missing, or unknown: the key that was meant, and what to add. */
import { didYouMean } from '../../../base/document/document.ts';
import type { Finding } from '../../../base/finding.ts';
import type { GenerationFacts } from '../../../service/generation/facts.ts';
import type { Join } from '../join.ts';
import { recipientHint } from '../recipients.ts';
import { hint, nearName } from '../rule.ts';

type Setting = NonNullable<GenerationFacts['CHANNEL_SETTINGS']['setting']>;

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

const isGiven = ({ root, as }: Setting, key: string): boolean =>
  root.at(['channels', as, key]).value !== undefined;

const SECRET = /token|secret|password|api_?key/i;
const RECIPIENT =
  /^(?:chat|channel|room|user|phone|group|recipient|target)(?:_?id|_?number)?$|^default_?(?:to|chat|channel)$/i;
/** Settings by which a bot is known. */
const BOT = /^(?:botToken|appId|appPassword|tenantId)$/;

/** The key that was meant by one that a channel does not know: nearly so spelt, or the only one of its kind. */
function nearKey(setting: Setting): string | undefined {
  const { channel, key, known } = setting.problem;
  if (key === undefined || known === undefined) return undefined;
  const secrets = SECRET.test(key) ? known.filter((name) => SECRET.test(name)) : [];
  const near =
    didYouMean(key, known) ??
    // A server of one's own has an address; a platform has an incoming webhook there.
    (channel === 'mattermost' && /^(?:server|api|instance)?_?-?(?:url|host|server|endpoint)$/i.test(key)
      ? 'baseUrl'
      : RECIPIENT.test(key)
        ? known.find((name) => name === 'to')
        : secrets.length === 1
          ? secrets[0]
          : undefined);
  // Two keys of one name would be the next finding.
  return near !== undefined && isGiven(setting, near) ? undefined : near;
}

/** The address of an incoming webhook, where a bot sends the messages here. */
const isWebhook = (setting: Setting): boolean =>
  /^url$|webhook/i.test(setting.problem.key ?? '') &&
  nearKey(setting) === undefined &&
  setting.problem.known?.some((name) => BOT.test(name)) === true;

const isMissing = (setting: Setting): boolean =>
  setting.problem.key !== undefined && !isGiven(setting, setting.problem.key);

/** The engine types the facts of each code. */
function settingOf(finding: Finding): Setting | undefined {
  const facts: GenerationFacts['CHANNEL_SETTINGS'] = finding.facts ?? {};
  return facts.setting;
}

/** A key that stands there under another name is not missing. */
export const channelSettings: Join = {
  on: ['CHANNEL_SETTINGS'],
  join: (found) => {
    const settings = found.flatMap((each) => settingOf(each) ?? []);
    const isReplaced = (key: string | undefined) => (other: Setting) =>
      isWebhook(other) || nearKey(other) === key;
    return found.filter((each) => {
      const setting = settingOf(each);
      if (setting === undefined || !isMissing(setting)) return true;
      const others = settings.filter(({ as }) => as === setting.as);
      return !others.some(isReplaced(setting.problem.key));
    });
  },
};

/** What the tokens of bots are, and what they need. */
const TOKENS: Readonly<Record<string, string>> = {
  slack: ', the token xoxb-… of an app with the scope chat:write, which is invited to the channel',
  discord: ', the token of a bot that was added to the server',
  telegram: ', the token that @BotFather issues',
};

/** A hint on a setting, by what is wrong with it. */
const settingRule = (
  name: string,
  find: (setting: Setting) => string | undefined,
  confidence: 'certain' | 'guess' = 'certain',
) => hint('CHANNEL_SETTINGS', [name, confidence], ({ setting }) => setting && find(setting));

export const CHANNEL_SETTINGS = [
  settingRule('missing', (setting) => {
    const { as, problem } = setting;
    if (!isMissing(setting)) return undefined;
    const text = settingText(problem.channel, problem.key ?? '');
    return `add ${text} to channels.${as}${TOKENS[problem.channel] ?? ''}, and set that variable where the service starts`;
  }),
  settingRule('recipient', ({ root, as, problem: { channel, key, known }, isRecipient }) => {
    const to = key === 'to' && known === undefined ? root.at(['channels', as, 'to']).value : undefined;
    return typeof to === 'string' ? recipientHint({ channel, to, isFixed: true, isRecipient }) : undefined;
  }),
  settingRule('package', ({ as, problem: { key } }) =>
    key === undefined
      ? `run that command where Sluice is installed, with -g where it is installed globally, or remove channels.${as}`
      : undefined,
  ),
  settingRule('incoming-webhook', (setting) => {
    if (!isWebhook(setting)) return undefined;
    const { channel, known = [] } = setting.problem;
    const texts = known
      .filter((key) => BOT.test(key) && !isGiven(setting, key))
      .map((key) => settingText(channel, key));
    // A bot in the place of the webhook.
    const remedy = texts.length === 0 ? 'remove it' : `write ${texts.join(', ')} in its place`;
    return `${remedy}${TOKENS[channel] ?? ''}: messages are sent by a bot to the recipient in "to", never to the address of an incoming webhook`;
  }),
  nearName('CHANNEL_SETTINGS', ({ setting }) => {
    const to = setting && nearKey(setting);
    return to === undefined ? undefined : { from: setting?.problem.key ?? '', to };
  }),
  settingRule(
    'other-key',
    ({ as, problem: { key, known } }) =>
      known === undefined
        ? `correct channels.${as}.${key ?? ''}; sluice channels check tries it on the platform`
        : 'remove it: a channel only sends here, and takes no messages',
    'guess',
  ),
  hint(
    'CHANNEL_SETTINGS',
    ['main-recipient', 'certain'],
    ({ main }) =>
      main &&
      (main.wrong === undefined
        ? 'set gateway.main.channel, or set `to` in the settings of the channel instead'
        : (recipientHint({ ...main.wrong, isFixed: true }) ??
          'write the recipient in that form, or remove gateway.main.to')),
  ),
];
