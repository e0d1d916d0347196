/** No key of the configuration may be a promise: each one changes the settings, and something reads each setting. */
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { configJsonSchema, loadConfig } from '../../src/engine/config/config.ts';
import { readPage, sectionOf } from '../support/docs.ts';
import { instancesOf, schemaKeys, without, type KeyPath } from '../support/schema-keys.ts';

/** Every key once, with a value that is not its default. */
const FULL = {
  $schema: './schemas/sluice.schema.json',
  extends: './openclaw.json',
  hooks: {
    enabled: true,
    token: 'hook-token-0123456789-0123456789',
    previousTokens: [{ file: 'old-token' }],
    path: '/inbound',
    presets: ['mail'],
    mappings: [{ match: { path: 'a' }, messageTemplate: 'x' }],
    mappingsDir: 'maps',
    senders: ['@acme/senders'],
    transformsDir: 'code',
    maxBodyBytes: 1000,
    limits: { steps: 1000, renderedBytes: 1000, storedBytes: 1000 },
    queryToken: 'reject',
    authFailuresPerMinute: 3,
    // The file that is extended turns it on.
    lenient: false,
    unmatched: 'skip',
    defaults: {
      wakeMode: 'next-heartbeat',
      deliver: false,
      summary: 'failures',
      afterCrash: 'never',
      limits: { runsPerHour: 60, runsPerHourAndSession: 20, usdPerDay: 5 },
    },
    exposeRuns: true,
    sessionKeys: {
      allowFromRequest: true,
      default: 'hook:all',
      allowedPrefixes: ['hook:'],
      shared: ['hook:team:'],
    },
    agents: { runners: { ops: 'agent' }, default: 'ops', allowed: ['ops'] },
    mail: {
      kind: 'imap',
      version: 1,
      account: 'ops@example.org',
      run: false,
      path: 'inbox',
      folders: ['Alerts'],
      from: ['@example.org'],
      subject: ['Alert'],
      since: '2026-11-01',
      accept: 'verified',
      authServers: ['mx.example.org'],
      maxBodyChars: 100,
      host: 'imap.example.org',
      port: 143,
      security: 'starttls',
      user: 'ops',
      auth: { kind: 'password', password: 'an-app-password' },
    },
  },
  server: {
    host: '127.0.0.2',
    port: 9000,
    stopGraceSeconds: 1,
    trustedProxies: ['10.0.0.0/8'],
    limits: { connections: 9, perAddress: 5, idleSeconds: 2, strangerSeconds: 1 },
    health: { host: '127.0.0.2', port: 9001 },
    publicUrl: 'https://hooks.example.org',
  },
  gateway: {
    token: 'the-gateways-own-secret',
    runner: 'agent',
    runners: {
      plain: { kind: 'echo', maxRuns: 2 },
      agent: {
        kind: 'command',
        argv: ['agent'],
        prompt: 'file',
        replyPath: 'result',
        cwd: '/tmp',
        model: 'some/model',
        env: { KEY: 'value' },
        passEnv: ['OTHER'],
        retryExitCodes: [75],
        maxReplyBytes: 1000,
        maxRuns: 3,
      },
      model: {
        kind: 'model',
        providers: {
          local: {
            kind: 'openai-compatible',
            baseUrl: 'http://127.0.0.1:1/v1',
            apiKey: 'k',
            reasoning: true,
          },
          openai: { kind: 'openai', baseUrl: 'http://127.0.0.1:1/v1', apiKey: 'k', reasoning: false },
        },
        system: 'Be short.',
        maxOutputTokens: 100,
        maxRuns: 4,
      },
      claw: {
        kind: 'openclaw',
        command: '/usr/bin/openclaw',
        agent: 'ops',
        hooks: { url: 'http://127.0.0.1:1/hooks', token: 'their-token' },
        passEnv: ['OTHER'],
        maxReplyBytes: 1000,
        maxRuns: 6,
      },
      coder: { kind: 'codex', access: 'edit' },
      laptop: { kind: 'worker', tokens: [{ file: 'worker-token' }], leaseSeconds: 30, maxReplyBytes: 1000 },
      other: {
        kind: 'forward',
        url: 'http://127.0.0.1:1/hooks',
        token: 'other-token',
        forwardSummaries: false,
        maxRuns: 5,
      },
    },
    workers: { listen: { host: '127.0.0.2', port: 9002 } },
    workFolders: { web: '/srv/web' },
    holdHours: 2,
    maxRuns: 5,
    maxRunsPerMapping: 2,
    heartbeat: {
      everySeconds: 60,
      instructions: 'Look at the events.',
      model: 'local/small',
      runner: 'model',
      activeHours: { from: '08:00', to: '22:00', timeZone: 'Asia/Tokyo' },
    },
    events: { maxPending: 7 },
    main: { channel: 'slack', to: 'C0123456' },
    sessions: { maxTurns: 5, maxTokens: 1000 },
    alerts: { channel: 'telegram', to: '1', after: 2, replies: true },
    callbackSecret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  },
  agents: {
    defaults: {
      model: 'small',
      models: ['small', 'local/large'],
      aliases: { small: 'local/small' },
      timeoutSeconds: 5,
      maxTimeoutSeconds: 50,
    },
  },
  channels: { slack: { botToken: 'xoxb-1' } },
  plugins: ['./pager.mjs'],
  storage: {
    url: 'sqlite:hooks.db',
    leaseSeconds: 7,
    keep: { days: 3, rows: 10, decisions: 5 },
    keepRequests: { which: 'failed', count: 5, bytes: 1000, days: 2 },
    maxBacklog: { runs: 5, bytes: 6 },
  },
  metrics: { host: '127.0.0.2', port: 9090 },
  console: {
    enabled: true,
    host: '127.0.0.2',
    port: 9091,
    publicUrl: 'https://console.example.com',
    keys: { ana: { role: 'operate', key: 'a-key-of-thirty-two-characters-00' } },
    proxy: { from: ['10.0.0.1'], header: 'x-webauth-user', users: { ben: 'inspect' }, others: 'view' },
  },
  log: { level: 'debug', format: 'pretty' },
} as const;

/** Keys that exclude each other: the same file with other kinds of mailbox. */
const FULLS: readonly object[] = [
  FULL,
  withMail({ ...FULL.hooks.mail, auth: { kind: 'oauth2', oauthFile: 'tokens.json' } }),
  withMail({
    kind: 'gmail',
    version: 1,
    account: 'ops@example.org',
    topic: 'projects/p/topics/t',
    subscription: 'projects/p/subscriptions/s',
    accept: 'asserted',
    authServers: ['mx.example.org'],
    oauthFile: 'tokens.json',
  }),
  withMail({
    kind: 'gmail',
    version: 1,
    account: 'ops@example.org',
    topic: 'projects/p/topics/t',
    push: { path: 'notes', audience: 'https://hooks.example.org', serviceAccount: 'push@p.example.org' },
  }),
];

function withMail(mail: object): object {
  return { ...FULL, hooks: { ...FULL.hooks, mail } };
}

const fullFor = (path: KeyPath): object => FULLS.find((full) => instancesOf(full, path).length > 0) ?? FULL;

const KEYS = schemaKeys(configJsonSchema()).filter(
  (path) =>
    // For editors only.
    path.join('.') !== '$schema' &&
    // A runner written in place of its name takes the keys of `gateway.runners.*`.
    !path.join('.').startsWith('gateway.runner.') &&
    // Every secret may be `{file: …}`; one of them is.
    path.at(-1) !== 'file',
);

let folder = '';

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-keys-'));
  for (const name of ['maps', 'code', 'mappings', 'transforms']) mkdirSync(join(folder, name));
  writeFileSync(join(folder, 'openclaw.json'), '{gateway: {auth: {token: "another-secret-of-theirs"}}}');
  writeFileSync(join(folder, 'old-token'), 'a-token-of-last-year-0123456789');
  writeFileSync(join(folder, 'worker-token'), 'a-token-of-the-laptop-0123456789abcdef');
});

afterAll(() => rmSync(folder, { recursive: true }));

interface Loaded {
  readonly codes: readonly string[];
  /** Settings and inline mappings as JSON; undefined where there is an error. */
  readonly meaning: string | undefined;
}

async function load(value: object): Promise<Loaded> {
  const file = join(folder, 'sluice.json');
  writeFileSync(file, JSON.stringify(value));
  const { config, findings } = await loadConfig(file, { env: {}, needSecrets: true });
  return {
    codes: findings.map(({ code }) => code),
    meaning:
      config && JSON.stringify([config.settings, config.inlineMappings.map(({ value: entry }) => entry)]),
  };
}

const findEmpty = (keys: readonly KeyPath[]): readonly string[] =>
  keys.filter((path) => instancesOf(fullFor(path), path).length === 0).map((path) => path.join('.'));

test('the full configuration has every key of the schema: a new key belongs there', async () => {
  expect(KEYS.length).toBeGreaterThan(80);
  expect(findEmpty(KEYS)).toEqual([]);
  for (const full of FULLS) expect((await load(full)).meaning).toBeDefined();
});

test.each(KEYS.map((path) => ({ path, name: path.join('.') })))(
  '$name changes what is loaded',
  async ({ path }) => {
    const full = fullFor(path);
    const whole = await load(full);
    for (const instance of instancesOf(full, path)) {
      const rest = await load(without(full, instance));
      expect(rest, instance.join('.')).not.toEqual(whole);
    }
  },
);

/** The source outside `config/` and the settings' own copies, without comments and declarations of types. */
const CONSUMERS = globSync('src/**/*.ts')
  .filter((file) => !file.startsWith(join('src', 'config')))
  .map((file) =>
    readFileSync(file, 'utf8')
      .replaceAll(/\/\*[\s\S]*?\*\//g, '')
      .replaceAll(/(^|\s)\/\/[^\n]*/g, '$1')
      .replaceAll(/^\s*readonly \w+\??:[^\n]*/gm, ''),
  )
  .join('\n');

/** What the consumers call the settings at a path, where it is not the key itself. */
const OWNERS: Readonly<Record<string, string>> = { 'gateway.sessions': 'limits' };

/** As `gateway.maxRuns`, or taken out of an object; what belongs to a name of the operator has no such parent. */
function isRead(path: KeyPath): boolean {
  const [parent = '', key = ''] = path.slice(-2).length === 2 ? path.slice(-2) : ['settings', path[0] ?? ''];
  const owner =
    parent === '*'
      ? String.raw`\w`
      : String.raw`\b${parent}|\b${OWNERS[path.slice(0, -1).join('.')] ?? parent}`;
  const access = String.raw`(?:${owner})\??\.${key}\b`;
  const taken = String.raw`\{[^{};()]*\b${key}\b[^{};()]*\}(?: =|\) =>|: [\w.<>' |]+[,)]|: \{ readonly )`;
  return new RegExp(`${access}|${taken}`).test(CONSUMERS);
}

/** Read while the configuration is loaded: the file that is named, and mappings as they are written. */
const RESOLVED = new Set(['extends', 'hooks.mappings']);

/** What this version says it does not read yet: only deleting it takes the warning away. */
async function findReserved(): Promise<ReadonlySet<string>> {
  const reserved = new Set<string>();
  if (!(await load(FULL)).codes.includes('RESERVED_KEY')) return reserved;
  for (const path of KEYS) {
    const full = fullFor(path);
    const [instance = []] = instancesOf(full, path);
    if (!(await load(without(full, instance))).codes.includes('RESERVED_KEY')) reserved.add(path.join('.'));
  }
  return reserved;
}

test('something outside the configuration reads every setting, but for those that say they are reserved', async () => {
  expect(isRead(['hooks', 'noSuchSetting'])).toBe(false);
  const reserved = await findReserved();
  const names = KEYS.filter((path) => !RESOLVED.has(path.join('.')) && !isRead(path)).map((path) =>
    path.join('.'),
  );
  expect(names.filter((name) => !reserved.has(name))).toEqual([]);
});

test('the page of runners lists every key of a runner, and no other', () => {
  const keys = new Set(
    schemaKeys(configJsonSchema()).flatMap(([top, runners, name, key, ...deeper]) =>
      top === 'gateway' && runners === 'runners' && name === '*' && key !== undefined && deeper.length === 0
        ? [key]
        : [],
    ),
  );
  const table = sectionOf(readPage('docs/runners.md'), '## Keys of a runner');
  const rows = [...table.matchAll(/^\| (`[^|]*`) +\|/gm)].flatMap(
    ([, cell = '']) => cell.match(/\w+/g) ?? [],
  );
  expect(new Set([...rows, 'kind'])).toEqual(keys);
  expect(keys.size).toBeGreaterThan(15);
});
