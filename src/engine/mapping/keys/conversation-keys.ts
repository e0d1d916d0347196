import * as z from 'zod';
import { oneLine } from '../../../base/boundary/boundary.ts';
import { spanOf } from '../../../base/finding.ts';
import { defined } from '../../../base/json.ts';
import { clearLine } from '../../../base/telemetry/telemetry.ts';
import { keysOf, whole } from './mapping-key.ts';

const DAY_SECONDS = 86_400;
/** Longest key that a conversation has. */
const MAX_KEY_CHARS = 256;

const KeysSchema = z.array(z.string().min(1)).min(1).max(10);

const ConversationSchema = z
  .strictObject({
    owner: z
      .string()
      .regex(/^[a-z0-9][\w.-]{0,63}$/, { error: 'lower-case letters, digits, and . _ -, at most 64' })
      .optional()
      .describe('Mappings that name one owner share their conversations; default the mapping itself.'),
    keys: KeysSchema.optional().describe(
      'Templates: keys by which the conversation is known beside sessionKey. A blank one is none.',
    ),
    start: z
      .boolean()
      .optional()
      .describe(
        'Whether an event begins a conversation where none has one of its keys; default true, and false with end.',
      ),
    end: z
      .enum(['after', 'now'])
      .optional()
      .describe(
        'The event ends the conversation: after its own run, or now, without a run of its own. Runs that have not begun end as superseded, with now also the one under way.',
      ),
    keySeconds: whole(60, 90 * DAY_SECONDS)
      .optional()
      .describe('How long a key is known that no event names any more; default 30 days, at most 90.'),
    waitSeconds: whole(0, DAY_SECONDS)
      .optional()
      .describe(
        'How long an event that begins no conversation waits for one of its keys; default 900, 0 ends it at once.',
      ),
  })
  .refine(({ start, end }) => end === undefined || start !== true, {
    error: 'an event that ends its conversation begins none: remove start or end',
    path: ['start'],
  });

/** Which conversation an event belongs to, and what it does to it. */
export const conversationKeys = keysOf({
  conversation: {
    about:
      'Experimental: whose conversation an event goes on with, by which keys it is known, and whether the event begins or ends it.',
    schema: ConversationSchema,
    see: '#conversations-of-several-mappings',
    actions: ['agent'],
    compile: (written, at) => {
      const { owner, end, keySeconds = 30 * DAY_SECONDS, waitSeconds = 900 } = written;
      const begins = written.start ?? end === undefined;
      const keys = (written.keys ?? []).flatMap(
        (_, index) => at.template(['conversation', 'keys', index]) ?? [],
      );
      return {
        ...defined({ owner, end }),
        ...(!begins && { start: false as const }),
        keys,
        keySeconds,
        waitSeconds,
      };
    },
    fill: (settings, { nameOf }) => {
      const { owner: _, keys: templates, ...wish } = settings;
      const keys = templates.flatMap((template, index) => {
        const key = nameOf(`conversation.keys.${index}`, template);
        return key === undefined ? [] : [oneLine(key, MAX_KEY_CHARS)];
      });
      return keys.length === 0 ? wish : { ...wish, keys };
    },
    golden: ({ keys, start, end }, action) =>
      defined({ owner: 'owner' in action ? action.owner : undefined, keys, start, end }),
    explain: ({ keys = [], start, end, waitSeconds }) =>
      [
        ...(keys.length === 0 ? [] : [`known also by ${clearLine(keys.join(', '))}`]),
        start === undefined
          ? 'begins where none has its keys'
          : `begins none${waitSeconds === 0 ? '' : `: waits for one, ${spanOf(waitSeconds)}`}`,
        ...(end === undefined ? [] : [end === 'now' ? 'ends it now' : 'ends it after this run']),
      ].join('; '),
  },
});
