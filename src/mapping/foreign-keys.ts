/**
 * Words of other tools (OpenClaw, Hermes Agent, n8n, Zapier, hookdeck) and keys at the wrong level, with what they are
 * here. `rename` only where the value means the same.
 */
export interface ForeignKey {
  readonly hint: string;
  readonly rename?: string;
}

const rename = (name: string): ForeignKey => ({ hint: `here it is called "${name}"`, rename: name });
const condition: ForeignKey = {
  hint: 'a condition is match.when, in JsonLogic: match: {path: name, when: {"===": [{"var": "action"}, "opened"]}}',
};
const event: ForeignKey = {
  hint: 'which events are taken says match.when, e.g. of GitHub: match: {path: github, when: {"in": [{"var": "headers.x-github-event"}, ["push", "release"]]}}; others name the event in the body',
};
const into = (key: string): ForeignKey => ({ hint: `it belongs into match: write match: {${key}: …}` });
const proof: ForeignKey = {
  hint: 'the token that senders carry is hooks.token of the configuration, one for all mappings',
};

export const FOREIGN_KEYS: Readonly<Record<string, ForeignKey>> = {
  when: into('when'),
  path: into('path'),
  source: into('source'),
  filter: condition,
  filters: condition,
  condition,
  conditions: condition,
  if: condition,
  rule: condition,
  rules: condition,
  event,
  events: event,
  on: event,
  secret: proof,
  token: proof,
  auth: proof,
  signature: proof,
  url: {
    hint: 'senders post to hooks.path and match.path; the address that hears of the outcome is callbackUrl',
  },
  webhook: { hint: 'senders post to hooks.path and match.path: match: {path: name}' },
  route: { hint: 'the hook name is match.path: match: {path: name}' },
  endpoint: { hint: 'the hook name is match.path: match: {path: name}' },
  throttle: { hint: 'a repeat is recognised by dedupe: {key: "{{id}}", ttlSeconds: 60}' },
  debounce: { hint: 'a repeat is recognised by dedupe: {key: "{{id}}", ttlSeconds: 60}' },
  rateLimit: { hint: 'the requests of a path are limited by rate: {perMinute: 60}' },
  prompt: rename('messageTemplate'),
  message: rename('messageTemplate'),
  template: rename('messageTemplate'),
  promptTemplate: rename('messageTemplate'),
  text: { hint: 'the template is messageTemplate (action: agent) or textTemplate (action: wake)' },
  body: { hint: 'the template is messageTemplate (action: agent) or textTemplate (action: wake)' },
  systemPrompt: rename('instructions'),
  system: rename('instructions'),
  session: rename('sessionKey'),
  sessionId: rename('sessionKey'),
  session_key: rename('sessionKey'),
  recipient: rename('to'),
  chatId: rename('to'),
  target: { hint: 'where the reply goes is channel and to' },
  deliverTo: { hint: 'where the reply goes is channel and to' },
  timeout: { hint: 'write timeoutSeconds, in seconds' },
  timeoutMs: {
    hint: 'write timeoutSeconds, in seconds; of a transform it is transform: {module: …, timeoutMs: …}',
  },
  agent: { hint: 'which agent runs is runner, a key of gateway.runners' },
  agentId: { hint: 'which agent runs is runner, a key of gateway.runners' },
  script: rename('transform'),
  code: { hint: 'code is transform: a file below hooks.transformsDir' },
  idempotencyKey: { hint: 'write dedupe: {key: "{{id}}"}' },
  dedupeKey: { hint: 'write dedupe: {key: "{{id}}"}' },
  items: rename('forEach'),
  foreach: rename('forEach'),
  disabled: { hint: 'write enabled: false' },
  active: rename('enabled'),
  type: { hint: 'what a request becomes is action: agent, wake or skip' },
  description: { hint: 'write it as a comment: # …' },
  model_name: rename('model'),
  reasoning: rename('thinking'),
};
