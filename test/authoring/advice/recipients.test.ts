/** Recipients as people copy them: what is to be written, in the form that the channel takes. */
import { expect, test } from 'vitest';
import { recipientHint } from '../../../src/authoring/advice/recipients.ts';
import { loadChannelCatalog, recipientProblem } from '../../../src/service/channels/channels.ts';

const catalog = await loadChannelCatalog([], import.meta.dirname);
const hintFor = (channel: string, to: string): string | undefined =>
  recipientHint({
    channel,
    to,
    isRecipient: (one) => recipientProblem(catalog, channel, one) === undefined,
  });

test.each([
  ['slack', 'deploys', '#deploys'],
  ['slack', '<#C0123456|deploys>', 'C0123456'],
  ['slack', 'https://app.slack.com/client/T012345/C0123456789', 'C0123456789'],
  ['telegram', 'https://t.me/mychannel', '@mychannel'],
  ['telegram', '-1001234567890/42', '-1001234567890:topic:42'],
  ['telegram', 'https://web.telegram.org/a/#-1001234567890', '-1001234567890'],
  ['discord', '<@!123456789012345678>', 'user:123456789012345678'],
  ['discord', 'https://discord.com/channels/111111111111111111/222222222222222222', '222222222222222222'],
  ['whatsapp', '0049 170 1234567', '+49 170 1234567'],
  ['whatsapp', '491701234567@c.us', '+491701234567'],
])('on %s %s is told %s, which is one', (channel, written, meant) => {
  expect(hintFor(channel, written)).toBe(`write to: ${JSON.stringify(meant)}`);
  expect(recipientProblem(catalog, channel, meant)).toBeUndefined();
});

test('what cannot be known is not guessed', () => {
  expect(hintFor('whatsapp', 'phone')).toBeUndefined();
  expect(hintFor('slack', 'the team')).toBeUndefined();
});
