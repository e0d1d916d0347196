import * as z from 'zod';
import { defined } from '../../../base/json.ts';
import { keysOf } from './mapping-key.ts';

const MatchSchema = z.strictObject({
  path: z
    .string()
    .optional()
    .describe(
      'Hook name: the part of the URL after hooks.path, without slashes at its ends. Left out, blank or / matches any name.',
    ),
  source: z.string().optional().describe('The value that `source` in the payload must have.'),
  // Any value here, since the condition compiler says more about a wrong one.
  when: z
    .unknown()
    .optional()
    .meta({
      anyOf: [{ type: 'boolean' }, { $ref: '#/definitions/rule' }],
      description:
        'JsonLogic condition over the request; where its result is unknown, the mapping does not match.',
    }),
});

/** Which requests a mapping takes, and what they become. */
export const routingKeys = keysOf({
  id: {
    about: 'Unique name of the mapping in logs, golden files and dedupe; default mapping-<n>.',
    schema: z.string().regex(/^[\w.:-]{1,100}$/, { error: 'letters, digits, and . : _ -, at most 100' }),
    // An action has an id of its own.
    golden: () => undefined,
  },
  enabled: { about: 'Whether the mapping is used; default true.', schema: z.boolean() },
  match: {
    about: 'Which requests the mapping takes; left out, all that no other mapping takes.',
    schema: MatchSchema,
    see: '#which-mapping-takes-a-request',
  },
  continue: {
    about:
      'Experimental: whether the mappings after this one are asked as well, so that one request becomes the actions of several; default false.',
    schema: z.boolean(),
    see: '#several-mappings-for-one-request',
  },
  action: {
    about:
      'What a request becomes: an agent run, a wake, a message to people without an agent (notify), or nothing (skip, answered 204). Default agent.',
    schema: z.enum(['agent', 'wake', 'notify', 'skip']),
    see: '#notify-people',
  },
});

/** At most so many that a look-up in a request costs nothing. */
const AccountsSchema = z.array(z.string().trim().min(1).max(200)).min(1).max(100);

const IgnoreSendersSchema = z.union([
  AccountsSchema.describe('Accounts, compared without case with where senders usually put them.'),
  z.strictObject({
    names: AccountsSchema.describe('Accounts, compared without case.'),
    from: z.string().min(1).describe('Template: where the sender puts the account.'),
  }),
]);

/** Whose requests make nothing. */
export const senderKeys = keysOf({
  ignoreSenders: {
    about:
      'Accounts whose events make nothing and are answered 204, e.g. the one that comments for the agent.',
    schema: IgnoreSendersSchema,
    see: '#no-loops',
    compile: (written, at) => {
      const place = at.located.place(['ignoreSenders']);
      if (!('names' in written)) return { names: byKey(written), at: place };
      // Senders are judged once for a request, before `forEach` takes its elements.
      const from = at.template(['ignoreSenders', 'from'], { withItem: false });
      return { names: byKey(written.names), at: place, ...defined({ from }) };
    },
  },
});

function byKey(names: readonly string[]): ReadonlyMap<string, string> {
  return new Map(names.map((name) => [accountKey(name), name.trim()]));
}

/** Accounts are compared without case and without the `@` that people write before a name. */
export function accountKey(name: string): string {
  return name.trim().replace(/^@/, '').toLowerCase();
}
