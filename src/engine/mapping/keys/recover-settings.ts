import * as z from 'zod';
import { SecretReference } from '../../verify/verify.ts';

export const RECOVER_DEFAULTS = { everySeconds: 600, max: 1000 } as const;

/** `recover` of a path, as it is written. */
export const RecoverSchema = z.strictObject({
  token: SecretReference.describe('Reference to the token with which the sender is asked.'),
  target: z.string().max(300).optional().describe('What its webhook is of, such as owner/name.'),
  sender: z.string().optional().describe('Whose log; default the sender of verify, else of the path.'),
  hook: z.string().max(100).optional().describe('Id of the webhook; default the one with this address.'),
  api: z.string().max(2000).optional().describe('Address of the interface; default that of the sender.'),
  everySeconds: z
    .int()
    .min(10)
    .max(86_400)
    .default(RECOVER_DEFAULTS.everySeconds)
    .describe('Seconds between two looks.'),
  maxAgeSeconds: z
    .int()
    .min(600)
    .max(2_592_000)
    .optional()
    .describe('How old an event may be; default three days, after the tries of the sender itself.'),
  max: z.int().min(1).max(10_000).default(RECOVER_DEFAULTS.max).describe('Events asked for after one look.'),
  reactivate: z
    .boolean()
    .optional()
    .describe('A webhook that is switched off is switched on; default false.'),
  fetched: z
    .enum(['accept', 'refuse'])
    .optional()
    .describe('What is only fetched, and so proves nothing by itself; default accept.'),
});
export type RecoverSettings = z.output<typeof RecoverSchema>;
