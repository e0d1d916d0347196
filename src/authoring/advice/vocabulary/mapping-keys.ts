import { AGAIN, alike, below, calledHere, type KeyAdvice, type SchemaAdvice } from '../schema-hints.ts';
import { isJsonObject } from '../../../base/json.ts';
import { valueOfMapping } from './mapping-values.ts';

/**
 * Words of other tools (OpenClaw, Hermes Agent, n8n, Zapier, hookdeck, adnanh/webhook) and keys at the wrong level, with
 * what they are here. `rename` only where the value means the same. Of the small objects (`dedupe`, `limits` and their
 * like) none is listed: the hint on an unknown key names all keys that they have.
 */
const condition: KeyAdvice = {
  hint: 'write it as match.when, in JsonLogic: match: {path: name, when: {"===": [{"var": "action"}, "opened"]}}',
};
const event: KeyAdvice = {
  hint: 'say in match.when which events are taken, e.g. of GitHub: match: {path: github, when: {"in": [{"var": "headers.x-github-event"}, ["push", "release"]]}}; others name the event in the body',
};
const proof: KeyAdvice = {
  hint: "write none here: the token that senders carry is hooks.token of the configuration, one for all mappings; a path with one of its own has verify: {scheme: token, secrets: ['${NAME}']}",
};
const signing: KeyAdvice = {
  hint: "write verify: {scheme: github, secrets: ['${NAME}']}, with the scheme of the sender, for the secret that it signs with",
};
const secrets: KeyAdvice = {
  hint: "write secrets, a list of references: secrets: ['${NAME}']",
  means: 'secrets',
};
const header: KeyAdvice = {
  hint: 'read headers by when: {"===": [{"var": "headers.x-name"}, "value"]}, and let verify judge the one that proves who sends',
};
const field: KeyAdvice = {
  hint: 'read fields of the body by when: {"===": [{"var": "field"}, "value"]}',
};
const place: KeyAdvice = { hint: 'write channel and to: they say where the reply of the agent goes' };

/** Operators that begin a condition; one beside `when`, or where `when` is missing, was most likely not indented. */
const BEGIN = 'and or ! !! == === != !== > >= < <= in some all none'.split(' ');

function operatorKeys(): Readonly<Record<string, KeyAdvice>> {
  return Object.fromEntries(
    BEGIN.flatMap((name) => {
      const written = /^\w+$/.test(name) ? name : `"${name}"`;
      const key: KeyAdvice = {
        hint: `write match: {path: name, when: {${written}: …}}: it is an operator of a condition, and belongs with all below it into match.when`,
      };
      return [
        [name, key],
        [`match.${name}`, key],
      ];
    }),
  );
}

/** Keys of a hook of adnanh/webhook: together they are one mistake. */
const adnanh: KeyAdvice = {
  group: 'adnanh',
  hint: 'write match: {path: name} and messageTemplate, as this is a hook of adnanh/webhook: what trigger-rule asks belongs in match.when, and the command is a runner, gateway.runners: {name: {kind: command, argv: [./script.sh]}}',
};
const outside: KeyAdvice = {
  hint: 'set server.publicUrl of the configuration to the address that senders call: publicUrl: https://hooks.example.com',
};
const order: KeyAdvice = {
  hint: 'put the mapping for fewer requests before the others, and write continue: true in it where they are to take the request, too: the first mapping that matches acts, and it alone; files are taken by their names',
};

const WORDS: Readonly<Record<string, KeyAdvice>> = {
  ...operatorKeys(),
  ...alike(
    'execute-command command-working-directory trigger-rule pass-arguments-to-command pass-environment-to-command pass-file-to-command response-message response-headers include-command-output-in-response include-command-output-in-response-on-error http-methods incoming-payload-content-type parse-parameters-as-json trigger-rule-mismatch-http-response-code trigger-signature-soft-failures success-http-response-code',
    adnanh,
  ),
  ...alike('filter filters condition conditions if rule rules', condition),
  ...alike('event events on', event),
  ...alike('secret secrets signingSecret webhookSecret hmac signature', signing),
  ...alike('token auth', proof),
  ...alike('priority order weight stop', order),
  ...alike('webhook route endpoint', { hint: 'write match: {path: name}, the hook name' }),
  ...alike('prompt message template promptTemplate', calledHere('messageTemplate')),
  ...alike('text body', { hint: 'write messageTemplate (action: agent) or textTemplate (action: wake)' }),
  ...alike('systemPrompt system', calledHere('instructions')),
  ...alike('session sessionId session_key', calledHere('sessionKey')),
  ...alike('recipient chatId chat_id replyTo reply_to sendTo', calledHere('to')),
  ...alike('callback callback_url webhookUrl resultUrl responseUrl', calledHere('callbackUrl')),
  ...alike('delivery announce target deliverTo output', place),
  ...alike(
    'threadId thread_id thread_ts threadTs topic topicId messageThreadId message_thread_id',
    calledHere('thread'),
  ),
  ...alike('timeout timeoutMs', { hint: 'write timeoutSeconds, in seconds' }),
  ...alike('agent agentId', { hint: 'write runner, a key of gateway.runners, to choose the agent' }),
  ...alike('script code', { hint: 'write transform, the name of a file below hooks.transformsDir' }),
  ...alike('idempotencyKey dedupeKey throttle', { hint: 'write dedupe: {key: "{{id}}"}' }),
  ...alike('items foreach', calledHere('forEach')),
  ...alike('respond response', calledHere('answer')),
  description: { hint: 'write it as a comment: # …' },
  ...alike('retries maxRetries', AGAIN),
  concurrency: calledHere('maxRuns'),
  ...below('verify', {
    ...alike('secret token key password publicKey signingSecret', secrets),
    ...alike('tolerance maxAge', {
      hint: 'write toleranceSeconds, a number of seconds: toleranceSeconds: 600',
    }),
    ...alike('url publicUrl notificationUrl', outside),
    ...alike('type provider', calledHere('scheme')),
  }),
  ...below('transform', {
    ...alike('file path script name', calledHere('module')),
    ...alike('timeout timeoutSeconds', { hint: 'write timeoutMs, in milliseconds: timeoutMs: 5000' }),
  }),
  ...below('match', {
    ...alike('event events', event),
    ...alike('header headers', header),
    query: {
      hint: 'read the query by when: {"===": [{"var": "query.name"}, "value"]}',
    },
    ...alike('condition conditions filter if where', calledHere('when')),
    name: calledHere('path'),
    url: { hint: 'write path, the hook name alone: what follows hooks.path in the address' },
    ...alike('body payload fields', field),
  }),
};

/** What is known of words and values of others in a mapping. */
export const MAPPING_WORDS: SchemaAdvice = {
  keys: WORDS,
  value: valueOfMapping,
  missing: (key, beside) =>
    key === 'maxRuns.key' && isJsonObject(beside)
      ? `write maxRuns: ${Number(beside['runs']) || 1} to count all runs of the mapping; to count those of one value add its template, as in key: "{{repository.id}}"`
      : undefined,
};
