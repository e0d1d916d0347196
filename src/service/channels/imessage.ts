import * as z from 'zod';
import { connectBlueBubbles } from './bluebubbles.ts';
import { commonShape, defineChannel } from './define-channel.ts';
import { parseImessageRecipient } from './imessage-recipient.ts';
import { connectImsg } from './imsg.ts';

const MAX_CHARS = 4000;

const schema = z
  .strictObject({
    ...commonShape,
    cliPath: z.string('must be text').min(1, 'must not be empty').optional(),
    password: z.string('must be text').min(1, 'must not be empty').optional(),
  })
  .refine((settings) => (settings.cliPath === undefined) !== (settings.password === undefined), {
    path: ['cliPath'],
    error: 'is required (the imsg program), or else "password" (a BlueBubbles server); not both',
    when: () => true,
  })
  .refine((settings) => settings.baseUrl === undefined || settings.cliPath === undefined, {
    path: ['baseUrl'],
    error: 'belongs to a BlueBubbles server; imsg has none',
    when: () => true,
  });

/** iMessage: the `imsg` program on a Mac (`cliPath`), or a BlueBubbles server (`password`, `baseUrl`). */
export const imessage = defineChannel({
  id: 'imessage',
  schema,
  maxChars: MAX_CHARS,
  parseRecipient: parseImessageRecipient,
  recipientForms:
    'an iMessage recipient is a phone number with its country code, an e-mail address, chat_id:<n>, ' +
    'chat_guid:<guid> or chat_identifier:<id>',
  connect: async ({ baseUrl, cliPath, password }) =>
    cliPath === undefined ? connectBlueBubbles(password ?? '', baseUrl) : connectImsg(cliPath),
});
