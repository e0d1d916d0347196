import * as z from 'zod';
import { oneLine } from '../../../base/boundary/boundary.ts';
import { spanOf } from '../../../base/finding.ts';
import { defined } from '../../../base/json.ts';
import { clearLine } from '../../../base/telemetry/telemetry.ts';
import { keysOf, whole } from './mapping-key.ts';

const DAY_SECONDS = 86_400;
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
    agentKeys: KeysSchema.optional().describe(
      'Templates: with what keys begin that the agent of a run may add to its conversation. A blank one is none.',
    ),
    mark: z
      .literal(true)
      .optional()
      .describe('The prompt asks the agent to put its mark into what it opens; it is in SLUICE_MARK, too.'),
    keySeconds: whole(60, 90 * DAY_SECONDS)
      .optional()
      .describe('How long a key is known that no event names any more; default 30 days, at most 90.'),
    waitSeconds: whole(0, DAY_SECONDS)
      .optional()
      .describe(
        'How long an event that begins no conversation waits for one of its keys; default 900, 0 ends it at once.',
      ),
  })
  .refine(({ mark, agentKeys }) => mark === undefined || agentKeys !== undefined, {
    error: 'a mark brings a key: say in agentKeys with what keys of the agent begin',
    path: ['mark'],
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
      const { owner, end, mark, keySeconds = 30 * DAY_SECONDS, waitSeconds = 900 } = written;
      const begins = written.start ?? end === undefined;
      const templates = (key: 'keys' | 'agentKeys') =>
        (written[key] ?? []).flatMap((_, index) => at.template(['conversation', key, index]) ?? []);
      return {
        ...defined({ owner, end, mark }),
        ...(!begins && { start: false as const }),
        keys: templates('keys'),
        agentKeys: templates('agentKeys'),
        keySeconds,
        waitSeconds,
      };
    },
    fill: (settings, { nameOf }) => {
      const { owner: _, keys, agentKeys, ...wish } = settings;
      const named = (key: 'keys' | 'agentKeys', templates: typeof keys) => {
        const names = templates.flatMap((template, index) => {
          const name = nameOf(`conversation.${key}.${index}`, template);
          return name === undefined ? [] : [oneLine(name, MAX_KEY_CHARS)];
        });
        return names.length === 0 ? {} : { [key]: names };
      };
      return { ...wish, ...named('keys', keys), ...named('agentKeys', agentKeys) };
    },
    golden: ({ keys, start, end, agentKeys, mark }, action) =>
      defined({ owner: 'owner' in action ? action.owner : undefined, keys, start, end, agentKeys, mark }),
    explain: ({ keys = [], agentKeys = [], start, end, marks = [], waitSeconds }) =>
      [
        ...(keys.length === 0 ? [] : [`known also by ${clearLine(keys.join(', '))}`]),
        start === undefined
          ? 'begins where none has its keys'
          : `begins none${waitSeconds === 0 ? '' : `: waits for one, ${spanOf(waitSeconds)}`}`,
        ...(agentKeys.length === 0 ? [] : [`its agent may add ${clearLine(agentKeys.join('…, '))}…`]),
        ...marks.map(({ runId }) => `carries a mark of run ${runId}`),
        ...(end === undefined ? [] : [end === 'now' ? 'ends it now' : 'ends it after this run']),
      ].join('; '),
  },
});
