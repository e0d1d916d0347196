import { printRule } from '../rule-parts.ts';
import { alike, below, calledHere, type KeyAdvice, type SchemaAdvice, secondsIn } from '../schema-words.ts';
import { isJsonObject } from '../../json.ts';
import { meantRule } from '../dialects/condition-texts.ts';
import { ADNANH, ruleOfOthers } from '../dialects/hooks.ts';
import { hintForFields } from './wanted-fields.ts';
import { meantValue } from './mapping-values.ts';

/**
 * Words of other tools (OpenClaw, Hermes Agent, n8n, Zapier, hookdeck) and keys at the wrong level, with what they are
 * here. `rename` only where the value means the same.
 */
type ForeignKey = KeyAdvice;

const condition: ForeignKey = {
  hintFor: conditionHint,
  hint: 'a condition is match.when, in JsonLogic: match: {path: name, when: {"===": [{"var": "action"}, "opened"]}}',
};
const event: ForeignKey = {
  hint: 'which events are taken says match.when, e.g. of GitHub: match: {path: github, when: {"in": [{"var": "headers.x-github-event"}, ["push", "release"]]}}; others name the event in the body',
};
/** OpenClaw and others name the agent, which is a runner here. */
const agentKey: ForeignKey = {
  hint: 'which agent runs is runner, a key of gateway.runners',
};
const into = (key: string): ForeignKey => ({ hint: `it belongs in match: write match: {${key}: …}` });
const proof: ForeignKey = {
  hint: "the token that senders carry is hooks.token of the configuration, one for all mappings; a path with one of its own has verify: {scheme: token, secrets: ['${NAME}']}",
};
const signing: ForeignKey = {
  hint: "the secret that a sender signs with belongs in verify: {scheme: github, secrets: ['${NAME}']}, with the scheme of the sender",
};
const secrets: ForeignKey = {
  hint: "write secrets, a list of references: secrets: ['${NAME}']",
  means: 'secrets',
};
const tolerance: ForeignKey = {
  hintFor: (value) => {
    const seconds =
      typeof value === 'string' || typeof value === 'number' ? secondsIn(String(value)) : undefined;
    return seconds === undefined || !Number.isInteger(seconds)
      ? undefined
      : `write toleranceSeconds: ${seconds}`;
  },
  hint: 'write toleranceSeconds, a number of seconds: toleranceSeconds: 600',
};

const again: ForeignKey = {
  hint: 'remove it: an agent that is away is waited for (gateway.holdHours), and deliveries are tried again, without a key; a run that began and failed is repeated by retry: {on: [timeout, exit, error], attempts: 3}',
};
const byTheHour: ForeignKey = {
  hint: 'runs are limited by the hour: runsPerHour; the requests of a path by the minute: rate: {perMinute: 60} beside limits',
};

const header: ForeignKey = {
  hint: 'headers are read by when: {"===": [{"var": "headers.x-name"}, "value"]}',
  hintFor: hintForFields('headers.'),
};
const field: ForeignKey = {
  hint: 'fields of the body are read by when: {"===": [{"var": "field"}, "value"]}',
  hintFor: hintForFields('payload.'),
};

/** Where a condition belongs that is a text, or an object of another tool, in JsonLogic; beside one that is there, too. */
function conditionHint(value: unknown, beside: unknown): string | undefined {
  const rule = typeof value === 'string' ? meantRule(value) : ruleOfOthers(value);
  if (rule === undefined || !isJsonObject(beside)) return undefined;
  const { match } = beside;
  const when = isJsonObject(match) ? match['when'] : undefined;
  return isJsonObject(when)
    ? `a condition belongs in match.when, in JsonLogic; there is one already, so join the two: when: {"and": [${printRule(when)}, ${rule}]}`
    : `a condition belongs in match, in JsonLogic: when: ${rule}`;
}

/** Operators that begin a condition; one beside `when`, or where `when` is missing, was most likely not indented. */
const BEGIN = [
  'and',
  'or',
  '!',
  '!!',
  '==',
  '===',
  '!=',
  '!==',
  '>',
  '>=',
  '<',
  '<=',
  'in',
  'some',
  'all',
  'none',
];

function operatorKeys(): Readonly<Record<string, ForeignKey>> {
  return Object.fromEntries(
    BEGIN.flatMap((name) => {
      const written = /^\w+$/.test(name) ? name : `"${name}"`;
      const key: ForeignKey = {
        hint: `it is an operator of a condition, and belongs with all below it into match.when: write match: {path: name, when: {${written}: …}}`,
      };
      return [
        [name, key],
        [`match.${name}`, key],
      ];
    }),
  );
}

/** The lines of a frame around the mapping. */
const frame: ForeignKey = {
  group: 'frame',
  hint: 'a mapping has no frame: its keys (id, match, messageTemplate) stand at the left of the file, or in entries of a list',
};
const oneAction: ForeignKey = {
  hint: 'a mapping has one action, and its keys stand in the mapping itself: action: agent, messageTemplate: …; for a second action write a second mapping, or a transform that returns a list',
};

const outside: ForeignKey = {
  hint: 'the address that senders call is server.publicUrl of the configuration: publicUrl: https://hooks.example.com',
};
const order: ForeignKey = {
  hint: 'the first mapping that matches acts, and it alone: put the one for fewer requests before the others; files are taken by their names',
};

const FOREIGN_KEYS: Readonly<Record<string, ForeignKey>> = {
  ...operatorKeys(),
  ...ADNANH,
  when: into('when'),
  path: into('path'),
  source: into('source'),
  ...alike('filter filters condition conditions if rule rules', condition),
  ...alike('event events on', event),
  ...alike('secret secrets signingSecret webhookSecret hmac signature', signing),
  ...alike('token auth', proof),
  ...alike('priority order weight continue stop', order),
  url: {
    hint: 'senders post to hooks.path and match.path; the address that hears of the outcome is callbackUrl',
  },
  webhook: { hint: 'senders post to hooks.path and match.path: match: {path: name}' },
  ...alike('route endpoint', { hint: 'the hook name is match.path: match: {path: name}' }),
  throttle: { hint: 'a repeat is recognised by dedupe: {key: "{{id}}", ttlSeconds: 60}' },
  rateLimit: { hint: 'the requests of a path are limited by rate: {perMinute: 60}' },
  ...alike('prompt message template promptTemplate', calledHere('messageTemplate')),
  ...alike('text body', {
    hint: 'the template is messageTemplate (action: agent) or textTemplate (action: wake)',
  }),
  ...alike('systemPrompt system', calledHere('instructions')),
  session: calledHere('sessionKey'),
  ...alike('sessionId session_key', calledHere('sessionKey')),
  ...alike('recipient chatId chat_id', calledHere('to')),
  ...alike('callback callback_url webhookUrl resultUrl responseUrl', calledHere('callbackUrl')),
  ...alike('replyTo reply_to sendTo', { ...calledHere('to') }),
  ...alike('delivery announce', {
    hint: 'where the reply of the agent goes is channel and to',
  }),
  callbackSecret: {
    hint: "what signs the callbacks of all mappings stands in the configuration: gateway: {callbackSecret: '${NAME}'}; remove it here",
  },
  channels: {
    hint: 'a reply goes to one channel: write channel: slack; another one that is used when it fails is fallback: {channel: telegram}',
  },
  ...alike('thread threadId thread_id thread_ts threadTs topic topicId messageThreadId message_thread_id', {
    hint: 'remove it: a reply is a message of its own in the channel; a topic of Telegram is a part of "to", as in to: "-1001234567890:topic:42"',
  }),
  ...alike('target deliverTo', { hint: 'where the reply goes is channel and to' }),
  timeout: { hint: 'write timeoutSeconds, in seconds' },
  timeoutMs: {
    hint: 'write timeoutSeconds, in seconds; of a transform it is transform: {module: …, timeoutMs: …}',
  },
  ...alike('agent agentId', agentKey),
  script: calledHere('transform'),
  code: { hint: 'code is transform: a file below hooks.transformsDir' },
  ...alike('idempotencyKey dedupeKey', { hint: 'write dedupe: {key: "{{id}}"}' }),
  ...alike('items foreach', calledHere('forEach')),
  disabled: { hint: 'write enabled: false' },
  active: calledHere('enabled'),
  ...alike('mapping hooks spec config apiVersion kind metadata', frame),
  version: { hint: 'remove it: a mapping has no version' },
  ...alike('actions steps do', oneAction),
  ...alike('respond response', calledHere('answer')),
  reply: {
    hint: 'the answer to the sender is answer: {status: 200, body: ok}; where the reply of the agent goes is channel and to',
  },
  output: { hint: 'where the reply of the agent goes is channel and to' },
  notify: {
    hint: 'a message without an agent is action: notify, with channel, to and messageTemplate',
  },
  type: { hint: 'what a request becomes is action: agent, wake or skip' },
  description: { hint: 'write it as a comment: # …' },
  model_name: calledHere('model'),
  reasoning: calledHere('thinking'),
  ...alike('retries maxRetries', again),
  concurrency: calledHere('maxRuns'),
  ...below('verify', {
    ...alike('secret token key password publicKey signingSecret', secrets),
    ...alike('tolerance maxAge', tolerance),
    ...alike('url publicUrl notificationUrl', outside),
    ...alike('type provider', calledHere('scheme')),
  }),
  ...below('transform', {
    ...alike('options config', {
      hint: 'values for a transform are texts in env: env: {LIMIT: "5"}, which the module reads from process.env',
    }),
    ...alike('file path script name', calledHere('module')),
    function: calledHere('export'),
    ...alike('timeout timeoutSeconds', { hint: 'write timeoutMs, in milliseconds: timeoutMs: 5000' }),
    memory: calledHere('memoryMb'),
  }),
  ...below('match', {
    event: {
      hint: 'an event is named in a header or in the body: write when, e.g. when: {"===": [{"var": "headers.x-github-event"}, "push"]}',
    },
    events: {
      hint: 'an event is named in a header or in the body: write when, e.g. when: {"in": [{"var": "headers.x-github-event"}, ["push"]]}',
    },
    ...alike('header headers', header),
    query: {
      hint: 'the query is read by when: {"===": [{"var": "query.name"}, "value"]}',
      hintFor: hintForFields('query.'),
    },
    method: { hint: 'method stands beside match, not in it: method: GET' },
    ...alike('condition filter if where', calledHere('when')),
    conditions: { hint: 'here it is called "when", one JsonLogic rule: {"and": [...]}' },
    name: calledHere('path'),
    url: { hint: 'write path, the hook name alone: what follows hooks.path in the address' },
    ...alike('body payload fields', field),
  }),
  ...below('limits', {
    ...alike('perHour runs maxRuns hourly', calledHere('runsPerHour')),
    ...alike('perDay perMinute', byTheHour),
    perSession: calledHere('runsPerHourAndSession'),
  }),
  ...below('debounce', {
    ...alike('window wait delay interval', calledHere('seconds')),
    ...alike('by groupBy', calledHere('key')),
    ...alike('max maxWait', calledHere('maxSeconds')),
  }),
  ...below('dedupe', {
    ...alike('ttl window seconds', calledHere('ttlSeconds')),
    ...alike('by field id', calledHere('key')),
  }),
  ...below('rate', {
    perHour: {
      hint: 'write perMinute, a number that may have a fraction: 30 an hour are perMinute: 0.5',
    },
    perSecond: { hint: 'write perMinute: one a second are perMinute: 60' },
    ...alike('limit max requests', calledHere('perMinute')),
  }),
  ...below('answer', {
    text: calledHere('body'),
    ...alike('code statusCode', calledHere('status')),
  }),
  ...below('fallback', {
    recipient: calledHere('to'),
  }),
};

/** What is known of words and values of others in a mapping. */
export const MAPPING_ADVICE: SchemaAdvice = { keys: FOREIGN_KEYS, value: meantValue };
