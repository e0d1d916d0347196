/**
 * Where an OpenClaw gateway surprises, row by row: a configuration, what is sent, and what Sluice answers. What the real
 * package answers is recorded in `test/fixtures/openclaw/answers.json` by `test/lab/endurance/openclaw-expected.ts`.
 */
export interface Row {
  readonly name: string;
  /** Parts of an `openclaw.json`. */
  readonly config: { readonly hooks?: object; readonly agents?: object; readonly channels?: object };
  readonly files?: Readonly<Record<string, string>>;
  readonly steps: readonly Step[];
  /** What Sluice answered before it was compared, where that was something else than now. */
  readonly before?: readonly string[];
  /** Where Sluice answers otherwise than theirs: what, and why. */
  readonly differs?: { readonly answers: readonly string[]; readonly why: string };
}

/** A request, `times` times (only the last answer counts); or a change of files, which is waited for. */
export type Step =
  | {
      readonly post: string;
      readonly body: unknown;
      readonly headers?: Readonly<Record<string, string>>;
      readonly times?: number;
    }
  | { readonly write: Readonly<Record<string, string>>; readonly config: Row['config'] }
  /** Whether a turn of the main session has read a text. */
  | { readonly heard: string };

/** An answer as rows compare it. */
export interface Answer {
  readonly status: number;
  readonly body: unknown;
}

/**
 * `taken`, with what it became, or the status. 200 and 202 are alike; runs are numbered in the order in which they are
 * first seen, so that a repeat shows.
 */
export function shortAnswer({ status, body }: Answer, seen: string[]): string {
  if (status !== 200 && status !== 202) return String(status);
  const { runId, runIds, mode, completion } = (body ?? {}) as {
    readonly runId?: string;
    readonly runIds?: readonly string[];
    readonly mode?: string;
    readonly completion?: { readonly status?: string };
  };
  const isOne = runId !== undefined && (runIds === undefined || runIds.length === 1);
  if (isOne && !seen.includes(runId)) seen.push(runId);
  const run = isOne
    ? [`run ${String(seen.indexOf(runId) + 1)}`]
    : runIds
      ? [`${String(runIds.length)} runs`]
      : [];
  const ended = completion?.status === undefined ? [] : [`ended ${completion.status}`];
  return ['taken', ...run, ...(mode === undefined ? [] : [mode]), ...ended].join(' ');
}

const say = (more: object = {}): Step => ({ post: 'agent', body: { message: 'hello', ...more } });
const wake = (more: object = {}): Step => ({ post: 'wake', body: { text: 'hello', ...more } });
const withKey = (header: string, length: number): Step => ({
  post: 'agent',
  body: { message: `${header} ${String(length)}` },
  headers: { [header]: 'k'.repeat(length) },
});
const keyInBody = (length: number): Step => ({
  post: 'agent',
  body: { message: 'body', idempotencyKey: 'k'.repeat(length) },
});
const twice = (step: Step): readonly Step[] => [step, step];
const mapping = (path: string, more: object = {}): object => ({
  id: path,
  match: { path },
  messageTemplate: 'hello {{id}}',
  ...more,
});

const TWO_AGENTS = { entries: { main: { default: true }, ops: {} } };
const wrong = (times: number): Step => ({
  post: 'wake',
  body: { text: 'hello' },
  headers: { authorization: 'Bearer wrong' },
  times,
});

const keyed = (more: object): Row['config'] => ({
  hooks: {
    allowedSessionKeyPrefixes: ['hook:'],
    mappings: [
      mapping('inside', { sessionKey: 'Hook:one' }),
      mapping('outside', { sessionKey: 'repo:one' }),
      mapping('templated', { sessionKey: 'hook:{{id}}' }),
      mapping('made', { transform: { module: 'key.mjs' } }),
    ],
    ...more,
  },
});
const KEY_MAKER = { 'hooks/transforms/key.mjs': 'export default () => ({ sessionKey: "hook:made" });\n' };
const KEYED_STEPS: readonly Step[] = ['inside', 'outside', 'templated', 'made'].map((post) => ({
  post,
  body: { id: '7' },
}));

/** One mapping whose transform says which of its versions it is: nothing, or a wake. */
const withTransform = (more: object = {}): Row['config'] => ({
  hooks: {
    mappings: [
      { match: { path: 'version' }, action: 'wake', textTemplate: 'x', transform: { module: 'v.mjs' } },
    ],
    ...more,
  },
});
const version = (result: string): Readonly<Record<string, string>> => ({
  'hooks/transforms/v.mjs': `export default () => (${result});\n`,
});
const ask: Step = { post: 'version', body: {} };

export const ROWS: readonly Row[] = [
  {
    name: 'an idempotency key of 256 and of 257 characters',
    config: {},
    steps: [
      ...twice(withKey('idempotency-key', 256)),
      ...twice(withKey('idempotency-key', 257)),
      ...twice(withKey('x-openclaw-idempotency-key', 256)),
      ...twice(withKey('x-openclaw-idempotency-key', 257)),
      ...twice(keyInBody(256)),
      ...twice(keyInBody(257)),
    ],
    before: [
      '400',
      '400',
      '400',
      '400',
      '400',
      '400',
      '400',
      '400',
      'taken run 1',
      'taken run 2',
      'taken run 3',
      'taken run 4',
    ],
  },
  {
    name: 'sessionKey of the body of /agent: null, a number, a list, an object, blank, a text',
    config: {},
    steps: [null, 5, ['a'], {}, '  ', 'mine'].map((sessionKey) => say({ sessionKey })),
    before: ['taken run 1', 'taken run 2', 'taken run 3', 'taken run 4', 'taken run 5', 'taken run 6'],
  },
  {
    name: 'the same with allowRequestSessionKey',
    config: { hooks: { allowRequestSessionKey: true } },
    steps: [null, 5, ['a'], {}, '  ', 'mine'].map((sessionKey) => say({ sessionKey })),
  },
  {
    name: 'agentId without agents',
    config: { hooks: { mappings: [mapping('mapped', { agentId: 'nobody' })] } },
    steps: [
      ...['nobody', 'main', 'MAIN', null, 5, ' '].map((agentId) => say({ agentId })),
      ...['nobody', 'main', null].map((agentId) => wake({ agentId })),
      { post: 'mapped', body: { id: '1' } },
    ],
    before: [
      'taken run 1',
      'taken run 2',
      'taken run 3',
      'taken run 4',
      'taken run 5',
      'taken run 6',
      'taken now',
      'taken now',
      'taken now',
      'taken run 7',
    ],
  },
  {
    name: 'agentId with two agents',
    config: { agents: TWO_AGENTS, hooks: { mappings: [mapping('mapped', { agentId: 'nobody' })] } },
    steps: [
      ...['nobody', 'ops', 'OPS', null, 5, ' '].map((agentId) => say({ agentId })),
      ...['nobody', 'ops'].map((agentId) => wake({ agentId })),
      { post: 'mapped', body: { id: '1' } },
    ],
    before: [
      '400',
      'taken run 1',
      '400',
      'taken run 2',
      'taken run 3',
      'taken run 4',
      'taken now',
      'taken now',
      'taken run 5',
    ],
  },
  {
    name: 'waitForCompletion',
    config: {},
    steps: [true, false, 'yes', 1, null].map((waitForCompletion) => say({ waitForCompletion })),
    before: ['taken run 1', 'taken run 2', 'taken run 3', 'taken run 4', 'taken run 5'],
  },
  {
    name: '205 mails in one request',
    config: {
      hooks: {
        mappings: [
          {
            match: { path: 'mails' },
            forEach: 'messages',
            action: 'wake',
            textTemplate: '{{messages[0].id}}',
          },
        ],
      },
    },
    steps: [{ post: 'mails', body: { messages: Array.from({ length: 205 }, (_, id) => ({ id })) } }],
    differs: {
      answers: ['400'],
      why: 'there the first 200 are taken and only a log line tells of the rest; what is accepted here is never lost',
    },
  },
  {
    name: 'failures of one address are reset by its success',
    config: {},
    steps: [wrong(15), wake(), wrong(15), wrong(6), wake(), wrong(1)],
    differs: {
      answers: ['401', 'taken now', '429', '429', 'taken now', '429'],
      why: 'whoever shares an address with a sender could guess without end; a right token is always let in',
    },
  },
  {
    name: 'allowedAgentIds: []',
    config: {
      hooks: {
        allowedAgentIds: [],
        mappings: [mapping('mapped'), { match: { path: 'woken' }, action: 'wake', textTemplate: 'x' }],
      },
    },
    steps: [
      say(),
      say({ agentId: 'main' }),
      wake(),
      { post: 'mapped', body: { id: '1' } },
      { post: 'woken', body: {} },
    ],
    before: ['400', '400', 'taken now', '400', 'taken now'],
  },
  {
    name: 'allowedAgentIds without the default agent',
    config: { agents: TWO_AGENTS, hooks: { allowedAgentIds: ['ops'] } },
    steps: [say(), say({ agentId: 'ops' }), wake(), wake({ agentId: 'ops' })],
    before: ['400', 'taken run 1', 'taken now', 'taken now'],
  },
  {
    name: 'prefixes [hook:] with a default key outside',
    config: { hooks: { defaultSessionKey: 'repo:all', allowedSessionKeyPrefixes: ['hook:'] } },
    steps: [say()],
  },
  {
    name: 'prefixes without hook: and without a default key',
    config: { hooks: { allowedSessionKeyPrefixes: ['repo:'] } },
    steps: [say()],
  },
  {
    name: 'prefixes [hook:], the opt-in, keys of mappings inside and outside',
    config: keyed({ allowRequestSessionKey: true }),
    files: KEY_MAKER,
    steps: KEYED_STEPS,
  },
  {
    name: 'a templated mapping key without the opt-in',
    config: keyed({}),
    files: KEY_MAKER,
    steps: KEYED_STEPS,
    before: ['taken run 1', '400', 'taken run 2', 'taken run 3'],
  },
  {
    name: 'a templated mapping key without prefixes',
    config: {
      hooks: {
        allowRequestSessionKey: true,
        mappings: [mapping('templated', { sessionKey: 'hook:{{id}}' })],
      },
    },
    steps: [{ post: 'templated', body: { id: '7' } }],
    differs: {
      answers: ['taken run 1'],
      why: 'a key of a hook reaches no session of the gateway here, whatever it is',
    },
  },
  {
    name: 'the preset gmail alone',
    config: { hooks: { presets: ['gmail'] } },
    steps: [{ post: 'gmail', body: { messages: [{ id: 'a', from: 'Ann', subject: 's' }] } }],
    differs: {
      answers: ['taken run 1'],
      why: "the contract has the preset work alone; of its key only the id of the mail is the sender's",
    },
  },
  {
    name: 'next-heartbeat without a heartbeat',
    config: { agents: { defaults: { heartbeat: { every: '0m' } } } },
    steps: [
      { post: 'wake', body: { text: 'first words', mode: 'next-heartbeat' } },
      { heard: 'first words' },
      { post: 'wake', body: { text: 'second words', mode: 'now' } },
      { heard: 'second words' },
      { heard: 'first words' },
    ],
  },
  {
    name: 'an unknown preset name',
    config: { hooks: { presets: ['gmial'] } },
    steps: [{ post: 'gmial', body: {} }, wake()],
    before: ['refused'],
  },
  {
    name: 'a rejected reload keeps the transform that was live',
    config: withTransform(),
    files: version('null'),
    steps: [
      ask,
      { write: version('{ text: "new" }'), config: withTransform({ path: 5 }) },
      ask,
      { write: {}, config: withTransform({ allowRequestSessionKey: true }) },
      ask,
    ],
  },
];
