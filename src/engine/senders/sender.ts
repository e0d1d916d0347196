import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';
import { PERMISSIONS } from '../../base/action.ts';
import { ChallengeSettings, SenderProof } from '../verify/verify.ts';

const Text = z.string().min(1).max(2_000);
const Header = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{0,99}$/, { error: 'the name of a header in small letters' });
/** A field as templates name it, without braces. */
const Field = z.string().regex(/^[A-Za-z_][\w-]*(?:\.[\w-]+){0,9}$/, {
  error: 'a field such as event.id or headers.x-event-id',
});
const Pattern = z
  .string()
  .max(200)
  .superRefine((text, context) => {
    try {
      RegExp(text);
    } catch {
      context.addIssue({ code: 'custom', message: 'a regular expression' });
    }
  });
const Patterns = z.record(z.string().min(1), Pattern).optional();

const Question = z.strictObject({
  method: z.enum(['HEAD']).optional().describe('Its method, where that alone tells it from events.'),
  headers: Patterns.describe('Headers that it has, with a pattern of the value; an empty one is any.'),
  query: Patterns.describe('Parameters of its address. Such a question has no body.'),
  body: Patterns.describe('Texts at the root of its body.'),
  only: Text.optional().describe('The one member of its body.'),
  also: Text.optional().describe('What else the operator has to do.'),
});

/** The interface of a sender, for all that is asked of it. Texts that use it have {token}, {target} and {place}. */
const SenderInterface = z.strictObject({
  token: Text.describe('Which token it takes, in words.'),
  places: z
    .array(z.strictObject({ what: Text, form: Pattern, path: Text }))
    .max(5)
    .optional()
    .describe('What it can be asked about, by the form of the target; {place} is the path.'),
  api: z.url({ protocol: /^https?$/ }).describe('The beginning of its address.'),
  headers: z.record(z.string(), z.string()).optional(),
});
export type SenderInterface = z.output<typeof SenderInterface>;

const Webhooks = z.strictObject({
  path: Text,
  items: Field.optional().describe('Where they stand; absent where the answer is the list.'),
  url: Field.describe('The address of one.'),
  kinds: Field.optional().describe('Which kinds of events one takes; * is all.'),
});
export type Webhooks = z.output<typeof Webhooks>;

/** How a webhook is made. Texts have {url}, {secret} and {id} too. */
const Registration = z.strictObject({
  create: z.strictObject({
    path: Text,
    body: z.json(),
    form: z.boolean().optional().describe('The body is a form: lists are repeated.'),
    secret: Field.optional().describe('Where the answer has the secret that the sender made.'),
  }),
  move: z
    .strictObject({ method: z.enum(['POST', 'PATCH', 'PUT']), path: Text, body: z.json() })
    .optional()
    .describe('How one gets another address: sluice dev --register needs it.'),
  remove: z.strictObject({ method: z.enum(['POST', 'DELETE']), path: Text }),
});
export type Registration = z.output<typeof Registration>;

const Role = z.strictObject({
  from: z
    .array(z.strictObject({ of: Field.describe('An account.'), is: Field.describe('Its role.') }))
    .min(1)
    .max(10)
    .describe('The first whose `of` is the account that acted says its role.'),
  means: z
    .record(Text, z.enum(PERMISSIONS))
    .describe('What a role proves of permissions; one that is not named here proves nothing.'),
});

/** A log of what a webhook delivered. Texts have {hook}, {id}, {event} and {since}, in seconds since the epoch. */
const Deliveries = z.strictObject({
  docs: z.url({ protocol: /^https?$/ }),
  keepsSeconds: z.int().positive().describe('How long it keeps them.'),
  triesSeconds: z.int().positive().optional().describe('How long its own tries are awaited.'),
  token: Text.describe('Which right it takes to list, and to have an event sent again.'),
  list: z.strictObject({
    path: Text,
    items: Field.optional().describe('Where the deliveries stand; absent where the answer is the list.'),
    next: z
      .union([
        z.literal('link'),
        z.strictObject({
          parameter: Text,
          more: Field,
          is: z.boolean().optional().describe('What `more` says where there are further ones; default true.'),
          from: Field.optional().describe('Where the answer has the parameter; default the id of the last.'),
        }),
      ])
      .describe('How the next page is asked for.'),
    only: z.record(Field, Text).optional().describe('What of the list counts: texts that its items have.'),
    id: Field,
    event: Field.describe('What stays the same when an event is sent again: what the field `id` has.'),
    at: Field.describe('When: an ISO time, or seconds since the epoch.'),
    status: Field.optional().describe('What the webhook answered; absent where the list has failures only.'),
    lost: Field.optional().describe('Set where the sender has not kept the body.'),
  }),
  redeliver: z.strictObject({ method: z.enum(['POST']), path: Text }).optional(),
  fetch: z
    .strictObject({ body: Field.optional(), headers: Field.optional() })
    .optional()
    .describe('Where an event stands in the list, where it is not sent again.'),
});

/** Whether the sender still sends, as `webhooks` lists it. */
const WebhookHealth = z.strictObject({
  active: Field,
  well: z.union([z.boolean(), Text]).describe('What that field says where all is well.'),
  reactivate: z
    .strictObject({
      method: z.enum(['POST', 'PATCH']),
      path: Text,
      body: z.json(),
      form: z.boolean().optional(),
    })
    .optional(),
});

const Means = z.enum(PERMISSIONS);

/** How the interface is asked what an account may do. */
const SenderPermission = z.strictObject({
  token: Text.describe('Which token it takes, in words.'),
  path: Text.describe('Its path, with the parts in braces.'),
  parts: z
    .record(
      z.string().regex(/^[a-z]+$/),
      z.strictObject({
        fields: z.array(Field).min(1).max(5).optional().describe('Where it stands; the first that is there.'),
        form: Pattern.describe('What it looks like: another one is not asked about.'),
      }),
    )
    .describe('What the path is filled with; `account` is who acted, where it has no fields.'),
  answer: z
    .array(Field)
    .min(1)
    .max(5)
    .describe('Where the answer has the permission; the first that is known.'),
  order: z
    .array(
      z.union([Means, z.strictObject({ means: Means, is: z.array(z.union([Text, z.number()])).min(1) })]),
    )
    .min(1)
    .describe('The permissions, from little to much, each as the answer has it.'),
});

const Example = z.union([
  z.strictObject({
    file: Text.describe('A request file, relative to this one.'),
  }),
  z.strictObject({
    name: z.string().regex(/^[a-z0-9][a-z0-9-]{0,60}$/, { error: 'small letters, digits and "-"' }),
    headers: z.record(z.string(), z.string()).optional(),
    query: z.record(z.string(), z.string()).optional(),
    body: z.json(),
  }),
]);

/** What is known of one sender: the form of `senders/<name>.yaml`. */
export const Sender = z.strictObject({
  $schema: z.string().optional().describe('For editors.'),
  title: Text.describe('As the sender writes itself.'),
  names: z.array(Text).max(20).optional().describe('What it is called, too.'),
  docs: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe('Where it documents its webhooks.'),
  verify: SenderProof.optional().describe('How it proves itself: verify of a mapping without secrets.'),
  secret: z
    .strictObject({
      from: z
        .enum(['made', 'issued', 'sent'])
        .describe(
          'made: chosen here and given to the sender; issued: the sender shows it; sent: it sends it to the address.',
        ),
      what: Text.optional().describe('What the sender calls it, and where it shows it.'),
      public: z.boolean().optional().describe('It is a public key, which is no secret.'),
    })
    .optional(),
  otherKeys: z
    .array(z.strictObject({ form: Pattern.describe('A regular expression.'), what: Text }))
    .max(20)
    .optional()
    .describe('Credentials of this sender that are no signing secret, by their form.'),
  id: Field.optional().describe(
    'The field that names an event, and is the same when it is sent again: the key of dedupe.',
  ),
  webhookIds: z
    .array(Field)
    .max(20)
    .optional()
    .describe('Fields that name the webhook and not the event: all of its events have the same.'),
  deliveryHeaders: z
    .array(Header)
    .max(20)
    .optional()
    .describe('Further headers that are new for each event.'),
  retryHeaders: z
    .array(Header)
    .max(20)
    .optional()
    .describe('Headers that are new for each try of one event.'),
  kind: Field.optional().describe('The field that says of what kind an event is.'),
  kinds: z
    .array(Text)
    .max(100)
    .optional()
    .describe('The kinds that a first mapping takes; others are skipped.'),
  account: z
    .union([Field, z.array(Field).min(1).max(5)])
    .optional()
    .describe('Where the account stands that did what the event tells; the first that is there counts.'),
  accountId: Field.optional().describe(
    'Where its id stands, if people may give the account any name: startedBy goes by it.',
  ),
  bots: z
    .record(Field, Pattern)
    .optional()
    .describe('Fields that show by their value that this account is a machine, each with a pattern of it.'),
  words: z
    .array(
      z.strictObject({
        in: Field.describe('Where they stand.'),
        by: Field.describe('Who wrote them.'),
        is: Field.optional().describe('Who acted, written as `by` is; default the account.'),
      }),
    )
    .min(1)
    .max(10)
    .optional()
    .describe('The words of what an event tells of, the innermost first: an agent puts its mark into them.'),
  permission: SenderPermission.optional().describe('How the interface is asked what that account may do.'),
  role: Role.optional().describe('What an event itself says of the account that acted.'),
  challenge: ChallengeSettings.optional().describe('How its question is answered: challenge of a mapping.'),
  question: Question.optional().describe('How it asks whether the address is right.'),
  mapping: Text.optional().describe(
    'The file of its mappings, relative to this one; default made from the examples.',
  ),
  examples: z
    .array(Example)
    .max(20)
    .optional()
    .describe('Requests as it sends them; they become golden cases.'),
  comments: z
    .strictObject({
      to: z.record(z.string(), Text).describe('Recipient of a comment, by the id of the mapping.'),
      silent: z.array(Text).describe('Mappings without a place for a comment.'),
    })
    .optional(),
  interface: SenderInterface.optional().describe('How its interface is asked.'),
  webhooks: Webhooks.optional().describe('How its webhooks are listed.'),
  register: Registration.optional().describe('How --register makes the webhook, through its interface.'),
  deliveries: Deliveries.optional().describe('How the log of what it delivered is asked, for recover.'),
  health: WebhookHealth.optional(),
  starts: z.array(Text).max(8).optional().describe('Who can start what with its mappings, a line each.'),
  openKinds: z
    .array(Text)
    .max(50)
    .optional()
    .describe(
      'Kinds that strangers can cause, where it is public: a run of them is asked to have startedBy.',
    ),
  setup: z
    .array(Text)
    .max(40)
    .optional()
    .describe(
      'What to do at the sender, with {url} and {secretFile}; a line that begins with a space is part of a file.',
    ),
});
export type Sender = z.output<typeof Sender> & {
  readonly name: string;
  /** The folder of its file; absent for those of this package. */
  readonly folder?: string;
};

/** The folder of those of this package: the same from source and from `dist/`. */
const SHIPPED = fileURLToPath(new URL('../../../src/engine/senders/', import.meta.url));

export const fileOf = ({ folder = SHIPPED }: Pick<Sender, 'folder'>, name: string): string =>
  join(folder, name);
