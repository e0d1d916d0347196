import * as z from 'zod';
import {
  type CallbackAddress,
  CHANNEL_IDS,
  channelIdOf,
  type DeliveryTarget,
  LAST_CHANNEL,
  REACTION_EMOJI,
} from '../../../base/action.ts';
import { oneLine } from '../../../base/boundary/boundary.ts';
import type { Path } from '../../../base/document/document.ts';
import { say, spanOf } from '../../../base/finding.ts';
import { defined, valueAt } from '../../../base/json.ts';
import { clearLine } from '../../../base/telemetry/telemetry.ts';
import type { CompiledMapping } from '../compiled-mapping.ts';
import { quote, type MappingReport } from '../reporter.ts';
import { textOf } from '../template/template-helpers.ts';
import { holdsReference, routingTemplate, type KeyCompiling, keysOf, same } from './mapping-key.ts';

/** Recipients are often written as numbers. Beyond 2^53 a YAML number has lost its last digits already. */
const RecipientSchema = z.union([
  z.string(),
  z
    .number()
    .refine(Number.isSafeInteger, { error: 'must be in quotes, because a number this long loses digits' }),
]);

/** What a request may decide where the mapping says so. */
export const TRUSTED_KEYS = ['channel', 'to', 'model', 'thinking', 'agentId'] as const;

const FallbackSchema = z.strictObject({
  channel: z.string().min(1).describe('Channel id; no template.'),
  to: RecipientSchema.optional().describe('Recipient on that channel; no template.'),
});

const ApproveSchema = z.strictObject({
  channel: z.string().min(1).describe('Channel on which somebody is asked; no template.'),
  to: RecipientSchema.optional().describe('Who is asked on that channel; no template.'),
  withinSeconds: z
    .number()
    .min(10)
    .max(604_800)
    .optional()
    .describe('Seconds within which it may be answered, at most seven days; default 3600.'),
});

/** A URL, or a reference to the secret that holds it. */
const CallbackSchema = z.union([
  z.string().min(1).describe('http or https URL, or ${NAME} to take it from an environment variable.'),
  z.strictObject({ file: z.string().min(1) }).describe('File that contains the URL.'),
]);

const Emoji = z.enum(REACTION_EMOJI).optional();
const ReactionSchema = z.union([
  z.literal(true).describe('The same as seen: eyes.'),
  z.strictObject({
    seen: Emoji.describe('When the event was accepted; default none.'),
    done: Emoji.describe('When its run ended well; default none.'),
    failed: Emoji.describe('When its run failed or was given up; default none.'),
  }),
]);

const MAX_THREAD_CHARS = 256;
/** The longest name of a message is the address of a comment. */
const MAX_MESSAGE_CHARS = 1_024;
const HOUR_SECONDS = 3_600;

/** Where a reply goes first. */
export const deliveryKeys = keysOf({
  deliver: {
    about: 'Whether the reply is sent to a channel; default hooks.defaults.deliver, else true.',
    schema: z.boolean(),
    actions: ['agent'],
    compile: same,
  },
  channel: {
    about: 'Template: channel id; default last.',
    schema: z.string(),
    see: 'channels.md',
    actions: ['agent', 'notify'],
    compile: (written, at) => {
      const compiled = routingTemplate(at);
      if (compiled?.literal !== undefined) checkChannel(at, ['channel'], written);
      return compiled;
    },
  },
  to: {
    about: 'Template: recipient on the channel; default the last one.',
    schema: RecipientSchema,
    see: 'channels.md',
    actions: ['agent', 'notify'],
    compile: (_written, at) => {
      const compiled = routingTemplate(at);
      const channel = channelBeside(at);
      if (compiled?.literal !== undefined && channel !== undefined)
        checkRecipient(at, ['to'], { channel, to: compiled.literal.trim() });
      return compiled;
    },
  },
  thread: {
    about:
      'Experimental: template of the thread on the channel in which the reply stands, e.g. {{event.ts}}; a blank value is none.',
    schema: z.string().min(1),
    see: 'channels.md#threads',
    actions: ['agent', 'notify'],
    compile: (_written, at) => {
      const isThere = at.options.hasThreads?.(channelBeside(at) ?? '') !== false;
      checkPlace(at, isThere, [
        'threads',
        'slack, discord, msteams, telegram, gitlab, email and some plugins',
      ]);
      return at.template(['thread']);
    },
    fill: (compiled, at) => oneLine(at.text('thread', compiled), MAX_THREAD_CHARS) || undefined,
    explain: clearLine,
  },
  reaction: {
    about:
      'Experimental: an emoji on the message that the event tells of, so that people see that it was heard: true, or one for seen, done and failed.',
    schema: ReactionSchema,
    see: 'channels.md#reactions',
    actions: ['agent'],
    compile: compileReaction,
    fill: ({ field, ...emoji }, { request }) => {
      const message = oneLine(textOf(valueAt(request.payload, field)), MAX_MESSAGE_CHARS);
      return { ...emoji, ...(message !== '' && { message }) };
    },
    explain: ({ message = 'what "to" names', ...emoji }) =>
      clearLine(`${Object.entries(emoji).flat().join(' ')}, on ${message}`),
  },
  trust: {
    about:
      'Keys that the request may decide, by a template or a transform: whoever sends it decides where the reply goes, or which agent and model run.',
    schema: z.array(z.enum(TRUSTED_KEYS)).min(1),
    compile: same,
  },
});

/** Keys for who hears how a run ended, for failed deliveries, and for who is asked before it begins. */
export const outcomeKeys = keysOf({
  fallback: {
    about: 'Channel that is tried when delivery on the first channel has failed for good.',
    schema: FallbackSchema,
    see: 'channels.md#what-happens-to-a-reply',
    actions: ['agent', 'notify'],
    compile: compileTarget,
    fill: same,
    explain: ({ channel, to = 'its default' }) => clearLine(`${channel} to ${to}`),
  },
  callbackUrl: {
    about: 'URL to which the outcome of the run is posted.',
    schema: CallbackSchema,
    see: 'runners.md#callbacks',
    actions: ['agent'],
    compile: compileCallback,
    fill: same,
    explain: () => 'yes',
  },
});

export const approvalKeys = keysOf({
  approve: {
    about:
      'Experimental: a run begins only after somebody approved it; not answered in time, it is given up.',
    schema: ApproveSchema,
    see: '#approval',
    actions: ['agent'],
    compile: (written, at) => ({
      ...compileTarget(written, at),
      withinSeconds: written.withinSeconds ?? HOUR_SECONDS,
    }),
    fill: (approve, { mapping, account }) => ({
      ...approve,
      ...defined({ account: account(), instructions: mapping.instructions }),
    }),
    golden: ({ channel, to, withinSeconds }) => ({ channel, ...defined({ to }), withinSeconds }),
    explain: ({ channel, to = 'its default', withinSeconds }) =>
      `${clearLine(`${channel}, ${to}`)} is asked, and has ${spanOf(withinSeconds)} to answer`,
  },
});

/** The id that a literal channel stands for; undefined of `last`, of a blank one, and of an unknown one. */
function knownChannel({ options }: KeyCompiling, written: string): string | undefined {
  const name = written.trim().toLowerCase();
  if (name === '' || name === LAST_CHANNEL || holdsReference(written)) return undefined;
  const id = channelIdOf(name);
  return options.channels === 'any' || channelsOf(options).has(id) ? id : undefined;
}

/** The same of the key `channel` beside it. */
const channelBeside = (at: KeyCompiling): string | undefined =>
  knownChannel(at, at.templates.get('channel')?.literal ?? '');

const channelsOf = ({ channels }: KeyCompiling['options']): ReadonlySet<string> =>
  new Set([...CHANNEL_IDS, ...(channels === 'any' ? [] : (channels ?? []))]);

function checkChannel(at: KeyCompiling, path: Path, written: string): string | undefined {
  const id = knownChannel(at, written);
  const name = written.trim().toLowerCase();
  if (id !== undefined || name === '' || name === LAST_CHANNEL || holdsReference(written)) return id;
  at.reporter.report(path, {
    code: 'UNKNOWN_CHANNEL',
    message: say`unknown channel ${quote(name)}`,
    facts: { written: written.trim(), known: [...channelsOf(at.options)] },
  });
  return undefined;
}

/** Warns of a thread or reaction where the channel has none, or the mapping names no channel: `last` may lead anywhere. */
function checkPlace(at: KeyCompiling, isThere: boolean, [things, places]: readonly [string, string]): void {
  const { key, source, reporter, templates } = at;
  // Where nothing is sent, the key is reported as one without effect.
  if (source.action === 'skip' || (source.action === 'wake' && source.transform === undefined)) return;
  const written = templates.get('channel');
  if (written !== undefined && written.literal === undefined) return;
  const channel = channelBeside(at);
  if (channel !== undefined && isThere) return;
  const where = channel === undefined ? say`the mapping names no channel` : say`${channel} has no ${things}`;
  reporter.report([key], {
    severity: 'warning',
    code: 'INVALID_RECIPIENT',
    message: say`${where}, so "${key}" is left out`,
    hint: say`write channel: slack beside it, or remove it: ${things} are on ${places}`,
  });
}

/** Left out where it is not known how the channel names its messages. */
function compileReaction(
  written: z.output<typeof ReactionSchema>,
  at: KeyCompiling,
): CompiledMapping['reaction'] {
  const { messageField } = at.options;
  const field = messageField?.(channelBeside(at) ?? '');
  const isThere = messageField === undefined || field !== undefined;
  checkPlace(at, isThere, ['reactions', 'github, gitlab, slack, discord, telegram and some plugins']);
  return field === undefined
    ? undefined
    : { ...(written === true ? { seen: 'eyes' } : written), field: field.split('.') };
}

/** A literal recipient has to have its channel's form. */
function checkRecipient(
  { reporter, options }: KeyCompiling,
  path: Path,
  { channel, to }: { readonly channel: string; readonly to: string },
): void {
  const problem = to === '' || holdsReference(to) ? undefined : options.recipientProblem?.(channel, to);
  if (problem === undefined) return;
  reporter.report(path, {
    code: 'INVALID_RECIPIENT',
    message: say`${quote(to)} is not a recipient on ${channel}: ${problem}`,
    facts: {
      channel,
      to,
      isRecipient: (one: string) => options.recipientProblem?.(channel, one) === undefined,
    },
  });
}

/** A channel and a recipient that are no templates. */
function compileTarget(
  { channel: written, to: recipient }: z.output<typeof FallbackSchema>,
  at: KeyCompiling,
): DeliveryTarget {
  const channel = checkChannel(at, [at.key, 'channel'], written);
  const to = recipient === undefined ? undefined : String(recipient).trim();
  if (to?.includes('{{') === true) {
    at.reporter.report([at.key, 'to'], {
      code: 'NOT_LITERAL',
      message: say`"${at.key}.to" is literal: it cannot contain expressions ({{…}})`,
      hint: say`write a fixed value: who gets it is not the sender's to choose`,
    });
  } else if (to !== undefined && channel !== undefined) {
    checkRecipient(at, [at.key, 'to'], { channel, to });
  }
  return { channel: channelIdOf(written.trim().toLowerCase()), ...defined({ to }) };
}

/** The address that the outcome of a run is posted to, as it is written; undefined where none can be used. */
function compileCallback(
  written: CallbackAddress,
  { reporter, options }: KeyCompiling,
): CallbackAddress | undefined {
  const isReference = typeof written !== 'string' || /^\$\{[A-Za-z_]\w*\}$/.test(written);
  const url = isReference ? options.resolveReference?.(written) : written;
  // Without a resolver (check, explain, test) the reference stands for itself.
  if (isReference && options.resolveReference === undefined) return undefined;
  if (url !== undefined && isLiteralUrl(url)) return written;
  reporter.report(['callbackUrl'], isReference ? NO_URL_REFERRED_TO : noLiteralUrl(written));
  return undefined;
}

function isLiteralUrl(url: string): boolean {
  return URL.canParse(url) && /^https?:\/\/[^/]/i.test(url) && !/\{\{|\$\{/.test(url);
}

const NO_URL_REFERRED_TO: MappingReport = {
  code: 'INVALID_CALLBACK_URL',
  message: say`the value that callbackUrl refers to is not an http or https URL`,
  hint: say`set the variable, or write into the file, an address such as https://example.com/done`,
};

const noLiteralUrl = (written: string): MappingReport => ({
  code: 'INVALID_CALLBACK_URL',
  message: say`callbackUrl must be a literal http or https URL, found ${quote(written)}`,
  hint: say`write an address such as https://example.com/done, or only \${NAME} to take it from an environment variable; an address out of the request is never called`,
});
