import * as z from 'zod';
import { defined } from '../../base/json.ts';
import type {
  ChannelAdapter,
  ChannelCheck,
  ChannelMessage,
  ChannelModule,
  SendResult,
  SettingsProblem,
} from './channel.ts';
import {
  bounded,
  failedCheck,
  failureOf,
  notSent,
  PreparationError,
  type SendFailure,
  unreadableCheck,
} from './send-failure.ts';

/** A built-in channel. The rest of the module, and everything that can go wrong in it, is made from this. */
export interface ChannelDefinition<Settings, Recipient> {
  readonly id: string;
  readonly packages?: readonly string[];
  readonly schema: z.ZodType<Settings>;
  /** Longest text of one message in UTF-16 units. */
  readonly maxChars: number;
  /** Reads a recipient; undefined where it has none of the accepted forms. */
  parseRecipient(to: string): Recipient | undefined;
  /** Where a recipient is an address: the host that it is on unless `baseUrl` says so, as names are others' elsewhere. */
  readonly publicHost?: string;
  /** The accepted forms, as the sentence that is shown for any other. */
  readonly recipientForms: string;
  /** How the platform names a thread, and what that is; absent: it has none. */
  readonly thread?: { readonly form: RegExp; readonly words: string };
  /** Where webhooks of the platform name a message, and its id therein; absent: it has no reactions. */
  readonly message?: { readonly field: string; readonly form: RegExp };
  connect(settings: Settings): Promise<ChannelConnection<Recipient>>;
}

export const EMOJI = { eyes: '👀', '+1': '👍', '-1': '👎', confused: '😕' } as const;

/**
 * A platform ready for messages. Each method may throw: `fetch`, an SDK or this code may fail, and what that means
 * for the message is decided in one place (`send-failure.ts`).
 */
export interface ChannelConnection<Recipient> {
  /** The name of the platform in messages. */
  readonly platform: string;
  /** The account's name, or how the check failed; undefined where the answer does not come from the platform. */
  check(signal: AbortSignal): Promise<string | SendFailure | undefined>;
  send(message: AddressedMessage<Recipient>, signal: AbortSignal): Promise<SendResult>;
  /** What an error of the SDK means; undefined for every other error. */
  failureOf?(error: unknown): SendFailure | undefined;
}

export interface AddressedMessage<Recipient> extends Omit<ChannelMessage, 'to'> {
  readonly to: Recipient;
}

const text = z.string({ error: (issue) => (issue.input === undefined ? 'is required' : 'must be text') });

/** A secret that goes into a header or a URL path: no white space, no control or separator characters. */
export const secretText = text
  .min(1, 'must not be empty')
  .max(4096, 'must have at most 4096 characters')
  .regex(/^[^\s\p{C}/?#]*$/u, 'must not contain white space, control characters, "/", "?" or "#"');

/** Text that YAML may read as a number, such as a phone number or an id. */
export const textOrNumber = z
  .union([z.string(), z.number().int().nonnegative()], {
    error: (issue) => (issue.input === undefined ? 'is required' : 'must be text'),
  })
  .transform((value) => String(value).trim())
  .pipe(z.string().min(1, 'must not be empty').max(1024, 'must have at most 1024 characters'));

export const httpUrl = text
  .refine(isHttpUrl, 'must be an absolute http or https URL without query, credentials or fragment')
  .transform((url) => url.replace(/(?<!\/)\/+$/, ''));

/** The keys every channel has: `baseUrl` in place of the platform's own address, and the default recipient `to`. */
export const commonShape = {
  baseUrl: httpUrl.optional(),
  to: z
    .union(
      [z.string(), z.number().refine(Number.isSafeInteger)],
      'must be text; put a long number in quotes, because it would lose digits',
    )
    .transform(String)
    .optional(),
} as const;
type CommonSettings = Partial<z.output<z.ZodObject<typeof commonShape>>>;

function isHttpUrl(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) return false;
  return url.username === '' && url.password === '' && url.search === '' && url.hash === '';
}

/** Makes the module of a built-in channel. Its adapter answers every call and never throws. */
export function defineChannel<Settings extends CommonSettings, Recipient>(
  definition: ChannelDefinition<Settings, Recipient>,
): ChannelModule {
  const { id, packages, schema, thread, message: named, parseRecipient, recipientForms } = definition;
  const recipientProblem = (to: string): string | undefined =>
    parseRecipient(to) === undefined ? recipientForms : undefined;
  return {
    id,
    ...defined({ packages, hasThreads: thread && true, messageField: named?.field }),
    recipientProblem,
    settingsProblems: (settings) => {
      const problems = problemsOf(schema.safeParse(settings), schema);
      const { to } = settings;
      // The schema reports a value that is neither text nor a number.
      const isText = typeof to === 'string' || typeof to === 'number';
      const message = isText ? recipientProblem(String(to)) : undefined;
      return message === undefined ? problems : [...problems, { key: 'to', message }];
    },
    open: async (settings) => {
      const parsed = schema.safeParse(settings);
      const host = parsed.data?.baseUrl === undefined ? definition.publicHost : undefined;
      if (parsed.success) return makeAdapter(definition, await definition.connect(parsed.data), host);
      const [problem] = problemsOf(parsed, schema);
      throw new Error(`channels.${id}.${problem?.key ?? ''}: ${problem?.message ?? 'is wrong'}`);
    },
  };
}

function makeAdapter<Recipient>(
  definition: Omit<ChannelDefinition<never, Recipient>, 'schema' | 'connect'>,
  connection: ChannelConnection<Recipient>,
  host: string | undefined,
): ChannelAdapter {
  const { id, maxChars, parseRecipient, recipientForms, thread, message: named } = definition;
  return {
    id,
    maxChars,
    check: (signal) => checkConnection(connection, signal),
    send: async (message, signal) => {
      const to = parseRecipient(message.to);
      if (to === undefined) return { kind: 'failed', code: 'bad_recipient', message: recipientForms };
      const written = URL.parse(message.to)?.host.replace('www.', '');
      if (host && written && written !== host)
        return {
          kind: 'failed',
          code: 'bad_recipient',
          message: `not on ${host}: set channels.${id}.baseUrl`,
        };
      if (thread !== undefined && message.thread !== undefined && !thread.form.test(message.thread))
        return { kind: 'failed', code: 'bad_thread', message: `a thread on ${id} is ${thread.words}` };
      const { reaction } = message;
      const found = reaction && named?.form.exec(reaction.message ?? '');
      if (reaction !== undefined && !found)
        return { kind: 'failed', code: 'no_message', message: `the event names no message of ${id}` };
      if (signal.aborted) return notSent();
      const emoji = reaction && { reaction: { emoji: reaction.emoji, ...defined({ message: found?.[1] }) } };
      try {
        return await connection.send({ ...message, to, ...emoji }, bounded(signal));
      } catch (error) {
        return classify(connection, error);
      }
    },
  };
}

async function checkConnection(
  connection: ChannelConnection<never>,
  signal: AbortSignal,
): Promise<ChannelCheck> {
  try {
    const answer = await connection.check(bounded(signal));
    if (answer === undefined) return unreadableCheck(connection.platform);
    return typeof answer === 'string' ? { ok: true, account: answer } : failedCheck(answer);
  } catch (error) {
    return failedCheck(classify(connection, error));
  }
}

/** What a failed call means. A step before the message itself delivered nothing, however it failed. */
function classify(connection: ChannelConnection<never>, error: unknown): SendFailure {
  if (error instanceof PreparationError) {
    const failure = error.failure ?? classify(connection, error.cause);
    return failure.kind === 'ambiguous' ? { ...failure, kind: 'retry' } : failure;
  }
  try {
    return connection.failureOf?.(error) ?? failureOf(error, connection.platform);
  } catch {
    return failureOf(error, connection.platform);
  }
}

function problemsOf({ error }: z.ZodSafeParseResult<unknown>, schema: z.ZodType): readonly SettingsProblem[] {
  const known = schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
  return (error?.issues ?? []).flatMap((issue): readonly SettingsProblem[] => {
    if (issue.code !== 'unrecognized_keys')
      return [{ key: issue.path.map(String).join('.'), message: issue.message }];
    const message = `is not a setting of this channel; its settings are: ${known.join(', ')}`;
    return issue.keys.map((key) => ({ key, message, known }));
  });
}

/**
 * A phone number with its country code as `+` and digits: spaces, dots, dashes and brackets are dropped, the plus
 * sign may be missing, as may the channel's own name before a colon. Undefined where it is none.
 */
export function parsePhone(to: string, channel: string): string | undefined {
  const bare = to.trim().replace(new RegExp(`^${channel}:`), '');
  if (!/^\+?\d[\d ().-]{5,24}$/.test(bare)) return undefined;
  const digits = bare.replaceAll(/\D/g, '');
  // E.164: at most 15 digits, and no country code starts with 0.
  return digits.length >= 7 && digits.length <= 15 && !digits.startsWith('0') ? `+${digits}` : undefined;
}
