import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { OPENCLAW } from '../../../src/engine/config/openclaw/behaviours.ts';
import { advise } from '../../../src/authoring/advice/advice.ts';
import { loadConfig } from '../../../src/engine/config/config.ts';
import type { LoadedConfig, Settings } from '../../../src/engine/config/config.ts';
import type { LoadOptions } from '../../../src/engine/config/load-config.ts';
import { lineColumn } from '../../../src/base/document/facts.ts';
import type { Finding } from '../../../src/base/document/document.ts';
import { said, saidFinding } from '../../support/said.ts';

const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

function write(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-config-'));
  folders.push(folder);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

async function load(
  files: Readonly<Record<string, string>>,
  options: Partial<LoadOptions> = {},
): Promise<{ config: LoadedConfig | undefined; findings: readonly Finding[]; folder: string }> {
  const folder = write(files);
  const { config, findings } = await loadConfig(undefined, {
    env: {},
    needSecrets: true,
    cwd: folder,
    ...options,
  });
  return { config, findings, folder };
}

async function loadNamed(
  name: string,
  text: string,
  options: Partial<LoadOptions> = {},
): Promise<{ config: LoadedConfig | undefined; findings: readonly Finding[]; folder: string }> {
  const folder = write({ [name]: text });
  const file = join(folder, name);
  const { config, findings } = await loadConfig(file, {
    env: {},
    needSecrets: true,
    cwd: folder,
    ...options,
  });
  return { config, findings, folder };
}

const codes = (findings: readonly Finding[]): string[] => findings.map(({ code }) => code);

const kitchenSink = `
hooks:
  enabled: true
  token: \${HOOK_TOKEN}
  previousTokens: [{file: secrets/old-token}]
  path: inbound/hooks/
  presets: [mail, gmail, mail]
  mappings:
    - {match: {path: github}, messageTemplate: 'literal \${NOT_A_REFERENCE} {{x}}'}
  mappingsDir: maps
  transformsDir: ./code
  maxBodyBytes: 1000
  queryToken: reject
  authFailuresPerMinute: 0
  lenient: true
  exposeRuns: true
  sessionKeys: {allowFromRequest: false, default: 'hook:ops', allowedPrefixes: ['hook:'], shared: ['hook:team:']}
  mail: {version: 1, kind: imap, account: me@example.org, host: imap.example.org, port: "\${PORT}", accept: asserted, authServers: [mx.example.org], auth: {kind: password, password: "\${MAIL_PASSWORD}"}}
server: {host: 0.0.0.0, port: "\${PORT}", stopGraceSeconds: 1.5, trustedProxies: [10.0.0.0/8, '::1'], limits: {connections: 9, perAddress: 5, idleSeconds: 2.5, strangerSeconds: 1}, health: {port: 9001}}
gateway:
  token: {file: ./secrets/gateway}
  runner: {kind: command, argv: [claude, -p], cwd: work, replyPath: result, env: {KEY: "k-\${HOOK_TOKEN}"}, passEnv: [X]}
  runners:
    cheap:
      kind: model
      providers:
        local: {kind: openai-compatible, baseUrl: 'http://127.0.0.1:11434/v1'}
        anthropic: {kind: anthropic, apiKey: "\${ANTHROPIC_API_KEY}", reasoning: false}
      system: Be brief.
      maxOutputTokens: 500
      maxRuns: 2
    other: {kind: forward, url: 'https://gw.example.org/hooks', token: "\${OTHER_TOKEN}"}
  maxRuns: 8
  maxRunsPerMapping: 2
  heartbeat:
    everySeconds: 0
    instructions: Look.
    model: fast
    runner: cheap
    activeHours: {from: '08:00', to: '22:00', timeZone: Europe/Berlin}
  events: {maxPending: 5}
  main: {channel: Teams, to: 42}
  sessions: {maxTurns: 5, maxTokens: 1000}
  callbackSecret: whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw
agents:
  defaults:
    model: smart
    models: [fast, anthropic/claude-opus-4-8]
    aliases: {smart: best, best: anthropic/claude-opus-4-8, fast: local/qwen}
    timeoutSeconds: 0.5
channels:
  teams: {appId: a, appPassword: "\${TEAMS_PASSWORD}"}
  telegram: {botToken: {file: secrets/telegram}, to: -100123}
  pager: {level: 3}
plugins: [./plugins/pager.js, sluice-channel-extra]
storage:
  url: sqlite:data/hooks.db
  keep: {days: 7, rows: 10, decisions: 500}
  maxBacklog: {runs: 5, bytes: 6}
metrics: {port: 9090}
console: {enabled: true, port: 9091, publicUrl: 'https://console.example.com'}
log: {level: debug, format: json}
`;

const env = {
  HOOK_TOKEN: 'current-hook-token',
  MAIL_PASSWORD: 'mail-password',
  PORT: '9123',
  ANTHROPIC_API_KEY: 'anthropic-key',
  OTHER_TOKEN: 'other-token',
  TEAMS_PASSWORD: 'teams-password',
};

test('a file with every key becomes exactly these settings', async () => {
  const { config, findings, folder } = await load(
    {
      'sluice.yaml': kitchenSink,
      'secrets/old-token': 'previous-hook-token\n',
      'secrets/gateway': 'gateway-secret\r\n',
      'secrets/telegram': '123:abc',
      'maps/.keep': '',
      'code/.keep': '',
    },
    { env },
  );
  expect(findings.map(({ code }) => code)).toEqual(['DEPRECATED_KEY']);
  const expected: Settings = {
    hooks: {
      enabled: true,
      token: 'current-hook-token',
      previousTokens: ['previous-hook-token'],
      path: '/inbound/hooks',
      presets: ['mail', 'gmail'],
      senders: [],
      mappingsDir: join(folder, 'maps'),
      transformsDir: join(folder, 'code'),
      maxBodyBytes: 1000,
      maxBodyBytesByName: {},
      limits: { steps: 16_000_000, renderedBytes: 4_194_304, storedBytes: 16_777_216 },
      queryToken: 'reject',
      authFailuresPerMinute: 0,
      lenient: true,
      unmatched: 'reject',
      defaults: { wakeMode: 'now', deliver: true, summary: 'always' },
      behaviours: {},
      exposeRuns: true,
      sessionKeys: {
        allowFromRequest: false,
        default: 'hook:ops',
        allowedPrefixes: ['hook:'],
        shared: ['hook:team:'],
      },
      agents: { runners: {} },
      mail: {
        version: 1,
        kind: 'imap',
        account: 'me@example.org',
        run: true,
        path: 'mail',
        folders: ['INBOX'],
        from: [],
        subject: [],
        accept: 'asserted',
        authServers: ['mx.example.org'],
        maxBodyChars: 20_000,
        host: 'imap.example.org',
        port: 9123,
        security: 'tls',
        auth: { kind: 'password', password: 'mail-password' },
      },
    },
    server: {
      host: '0.0.0.0',
      port: 9123,
      stopGraceSeconds: 1.5,
      trustedProxies: ['10.0.0.0/8', '::1'],
      limits: { connections: 9, perAddress: 5, idleSeconds: 2.5, strangerSeconds: 1 },
      health: { host: '127.0.0.1', port: 9001 },
    },
    gateway: {
      token: 'gateway-secret',
      workFolders: {},
      runner: 'default',
      runners: {
        echo: { kind: 'echo' },
        cheap: {
          kind: 'model',
          providers: {
            local: { kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:11434/v1', reasoning: false },
            anthropic: { kind: 'anthropic', apiKey: 'anthropic-key', reasoning: false },
          },
          system: 'Be brief.',
          maxOutputTokens: 500,
          maxRuns: 2,
        },
        other: {
          kind: 'forward',
          forwardSummaries: true,
          url: 'https://gw.example.org/hooks',
          token: 'other-token',
        },
        default: {
          kind: 'command',
          argv: ['claude', '-p'],
          prompt: 'stdin',
          replyPath: 'result',
          cwd: join(folder, 'work'),
          env: { KEY: 'k-current-hook-token' },
          passEnv: ['X'],
          retryExitCodes: [],
          maxReplyBytes: 1_048_576,
        },
      },
      maxRuns: 8,
      holdHours: 24,
      maxRunsPerMapping: 2,
      heartbeat: {
        everySeconds: 0,
        instructions: 'Look.',
        model: 'local/qwen',
        runner: 'cheap',
        activeHours: { from: '08:00', to: '22:00', timeZone: 'Europe/Berlin' },
      },
      events: { maxPending: 5 },
      main: { channel: 'msteams', to: '42' },
      sessions: { maxTurns: 5, maxTokens: 1000 },
      callbackSecret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    },
    agents: {
      defaults: {
        model: 'anthropic/claude-opus-4-8',
        models: ['local/qwen', 'anthropic/claude-opus-4-8'],
        aliases: {
          smart: 'anthropic/claude-opus-4-8',
          best: 'anthropic/claude-opus-4-8',
          fast: 'local/qwen',
        },
        timeoutSeconds: 0.5,
        maxTimeoutSeconds: 3600,
      },
    },
    channels: {
      msteams: { appId: 'a', appPassword: 'teams-password' },
      telegram: { botToken: '123:abc', to: -100123 },
      pager: { level: 3 },
    },
    plugins: [join(folder, 'plugins/pager.js'), 'sluice-channel-extra'],
    storage: {
      url: `sqlite:${join(folder, 'data/hooks.db')}`,
      leaseSeconds: 20,
      keep: { days: 7, rows: 10, decisions: 500 },
      keepRequests: {},
      maxBacklog: { runs: 5, bytes: 6 },
    },
    metrics: { host: '127.0.0.1', port: 9090 },
    console: {
      enabled: true,
      host: '127.0.0.1',
      port: 9091,
      keys: {},
      publicUrl: 'https://console.example.com',
    },
    log: { level: 'debug', format: 'json' },
  };
  expect(config?.settings).toEqual(expected);
  expect(config?.inlineMappings.map(({ value: { value, path } }) => ({ value, path }))).toEqual([
    {
      value: { match: { path: 'github' }, messageTemplate: 'literal ${NOT_A_REFERENCE} {{x}}' },
      path: ['hooks', 'mappings', 0],
    },
  ]);
  expect(config?.files).toEqual(
    ['sluice.yaml', 'secrets/old-token', 'secrets/gateway', 'secrets/telegram'].map((name) =>
      join(folder, name),
    ),
  );
  expect(config?.secrets).toEqual(
    expect.arrayContaining(['current-hook-token', 'previous-hook-token', 'gateway-secret', '123:abc']),
  );
});

test('the shortest file that serves has these defaults', async () => {
  const { config, folder } = await load({ 'sluice.json': '{"hooks": {"enabled": true, "token": "t0ken"}}' });
  const { hooks, server, gateway, agents, storage, metrics, console, log } =
    config?.settings ?? ({} as Settings);
  expect(hooks).toEqual({
    enabled: true,
    token: 't0ken',
    previousTokens: [],
    path: '/hooks',
    presets: [],
    senders: [],
    mappingsDir: join(folder, 'mappings'),
    transformsDir: join(folder, 'transforms'),
    maxBodyBytes: 262_144,
    maxBodyBytesByName: {},
    limits: { steps: 16_000_000, renderedBytes: 4_194_304, storedBytes: 16_777_216 },
    queryToken: 'warn',
    authFailuresPerMinute: 20,
    lenient: false,
    unmatched: 'reject',
    defaults: { wakeMode: 'now', deliver: true, summary: 'always' },
    behaviours: {},
    exposeRuns: false,
    agents: { runners: {} },
    sessionKeys: { allowFromRequest: true, allowedPrefixes: [], shared: [] },
  });
  expect(server).toEqual({
    host: '127.0.0.1',
    port: 8787,
    stopGraceSeconds: 20,
    trustedProxies: [],
    limits: { connections: 2_000, perAddress: 500, idleSeconds: 75, strangerSeconds: 10 },
  });
  expect(gateway.runner).toBe('echo');
  expect(gateway.heartbeat.instructions).toContain('HEARTBEAT_OK');
  expect(gateway).toMatchObject({
    maxRuns: 4,
    heartbeat: { everySeconds: 1800 },
    events: { maxPending: 10_000 },
  });
  expect(agents.defaults).toEqual({ aliases: {}, timeoutSeconds: 600, maxTimeoutSeconds: 3600 });
  expect(storage).toEqual({
    url: `sqlite:${join(folder, '.sluice/sluice.db')}`,
    keep: { days: 30, rows: 1_000_000, decisions: 10_000 },
    keepRequests: {},
    leaseSeconds: 20,
    maxBacklog: { runs: 100_000, bytes: 1_073_741_824 },
  });
  expect([metrics, console, log]).toEqual([undefined, { host: '127.0.0.1', keys: {} }, { level: 'info' }]);
});

const openClaw = `// as its users write it
{
  meta: { lastTouchedVersion: '2026.1.29' },
  gateway: { port: 18789, bind: 'loopback', auth: { mode: 'token', token: '\${GATEWAY_TOKEN}' } },
  agents: {
    defaults: {
      model: { primary: 'opus', fallbacks: ['openai/gpt-5'] },
      models: { 'anthropic/claude-opus-4-8': { alias: 'opus' }, 'openai/gpt-5': {} },
      workspace: '~/clawd',
    },
  },
  channels: { whatsapp: { allowFrom: ['+15555550123'] } },
  hooks: {
    enabled: true,
    token: '\${OPENCLAW_HOOKS_TOKEN}',
    path: '/hooks',
    presets: ['gmail'],
    maxBodyBytes: 262144,
    defaultSessionKey: 'hook:ingress',
    allowRequestSessionKey: false,
    allowedSessionKeyPrefixes: ['hook:'],
    allowedAgentIds: ['hooks', 'main'],
    gmail: { account: 'me@example.org', topic: '\${NOT_OURS}' },
    mappings: [
      {
        match: { path: 'gmail' },
        action: 'agent',
        agentId: 'main',
        messageTemplate: 'New email from {{messages[0].from}}',
      },
    ],
  },
}`;

test('an OpenClaw file loads as it is, and what it has no use for is named once', async () => {
  const { config, findings, folder } = await loadNamed('openclaw.json', openClaw, {
    env: { OPENCLAW_HOOKS_TOKEN: 'hook-secret-of-a-gateway', GATEWAY_TOKEN: 'gateway-secret' },
  });
  expect(findings.map(({ code, severity }) => `${severity} ${code}`)).toEqual([
    'warning HOOKS_PORT',
    'warning OPENCLAW_NOT_FOUND',
    'warning NOT_TRANSLATED',
  ]);
  expect(said(findings[2]?.message)).toMatch(/^hooks\.gmail has no counterpart/);
  expect(config?.settings.hooks.behaviours).toBe(OPENCLAW);
  const { hooks, server, gateway, agents } = config?.settings ?? ({} as Settings);
  expect(hooks).toMatchObject({
    enabled: true,
    token: 'hook-secret-of-a-gateway',
    presets: ['gmail'],
    lenient: true,
    transformsDir: join(folder, 'hooks/transforms'),
    sessionKeys: {
      allowFromRequest: false,
      default: 'hook:ingress',
      allowedPrefixes: ['hook:'],
      shared: [],
    },
  });
  expect(server).toMatchObject({ host: '127.0.0.1', port: 8787 });
  expect(gateway.token).toBe('gateway-secret');
  expect(agents.defaults).toEqual({
    model: 'anthropic/claude-opus-4-8',
    models: ['anthropic/claude-opus-4-8', 'openai/gpt-5'],
    aliases: { opus: 'anthropic/claude-opus-4-8' },
    maxTimeoutSeconds: 3600,
    timeoutSeconds: 600,
  });
  const mapping = config?.inlineMappings[0]?.value;
  expect(mapping?.value).toMatchObject({ agentId: 'main', match: { path: 'gmail' } });
  const at = mapping?.place(['messageTemplate']);
  expect(at?.source.text.slice(at.start, at.end)).toBe("'New email from {{messages[0].from}}'");
});

test.each([
  [
    "{hooks: {enabled: true, token: 't0ken'}, agents: {defaults: {model: 'a/b', models: ['a/b']}}}",
    'a/b',
    ['a/b'],
  ],
  [
    "{hooks: {enabled: true, token: 't0ken'}, agents: {defaults: {model: {primary: 'a/b'}}}}",
    'a/b',
    undefined,
  ],
])('OpenClaw models are read from %s', async (text, model, models) => {
  const { config } = await loadNamed('openclaw.json5', text);
  expect(config?.settings.agents.defaults).toMatchObject({ model, models });
});

test('findings in an OpenClaw file point at what was written there', async () => {
  const { findings } = await loadNamed(
    'openclaw.json',
    "{\n  gateway: {\n    trustedProxies: 5,\n  },\n  hooks: {enabled: true, token: 't0ken', allowRequestSessionKey: 'no'},\n}",
  );
  const errors = findings.filter(({ severity }) => severity === 'error');
  expect(errors.map(({ code, message }) => `${code} ${said(message)}`)).toEqual([
    'WRONG_TYPE gateway.trustedProxies must be a list, found the number 5',
    'WRONG_TYPE hooks.allowRequestSessionKey must be a boolean, found the string "no"',
  ]);
  expect(errors.map(({ at }) => at && lineColumn(at))).toEqual([
    { line: 3, column: 21 },
    { line: 5, column: 66 },
  ]);
});

test.each(['server: 5, gateway: {port: 1}', 'hooks: 5', 'agents: {defaults: 5}', 'gateway: []'])(
  'an OpenClaw file with {%s} gets findings, not an exception',
  async (part) => {
    const { findings } = await loadNamed('openclaw.json', `{${part}}`);
    expect(findings.length).toBeGreaterThan(0);
  },
);

test('the transforms of an OpenClaw file may lie below the home of the user', async () => {
  const { config } = await loadNamed('openclaw.json', `{hooks: {transformsDir: '~/.openclaw/hooks'}}`, {
    env: { HOME: '/home/ada' },
  });
  expect(config?.settings.hooks.transformsDir).toBe('/home/ada/.openclaw/hooks');
});

test('any other file name is not read as OpenClaw, and is told', async () => {
  const { config, findings } = await loadNamed('my-openclaw.json', '{"gateway": {"auth": {"token": "x"}}}');
  expect(config).toBeUndefined();
  expect(codes(findings)).toEqual(['NOT_A_CONFIGURATION']);
});

test('a list of tokens is one mistake', async () => {
  const text = "hooks:\n  enabled: true\n  tokens: ['${NEW_TOKEN}', '${OLD_TOKEN}']\n";
  const { findings } = await load({ 'sluice.yaml': text });
  expect(findings.map(({ code }) => code)).not.toContain('TOKEN_REQUIRED');
  expect(said(advise(findings)[0]?.hint)).toBe('did you mean "token"?');
});

test('a key of OpenClaw is told what it is called here, and no key with another value', async () => {
  const text = 'hooks:\n  defaultSessionKey: hook:in\n  defaultMode: now\n';
  const { findings } = await load({ 'sluice.yaml': text });
  const [first, second] = advise(findings).map(({ hint }) => said(hint));
  expect(first).toBe('write sessionKeys: {default: …} in its place');
  expect(second).toMatch(/^remove it; the keys here are: /);
});

test('all findings come at once, in the order of the file', async () => {
  const { findings } = await load({
    'sluice.yaml': `hooks:
  enabeld: true
  enabled: true
  path: /
server:
  port: eighty
  host: ''
gateway:
  token: \${MISSING}
nonsense: 1
`,
  });
  expect(findings.map(({ code, at }) => `${code}:${String(at && lineColumn(at).line)}`)).toEqual([
    'UNKNOWN_KEY:2',
    'TOKEN_REQUIRED:3',
    'WRONG_TYPE:6',
    'INVALID_VALUE:7',
    'MISSING_VARIABLE:9',
    'UNKNOWN_KEY:10',
  ]);
});

test('commands that need no secrets keep missing references and report nothing about them', async () => {
  const { config, findings } = await load(
    {
      'sluice.yaml': `hooks: {enabled: true, token: "\${MISSING}", previousTokens: [{file: nowhere}]}
server: {port: "\${PORT}"}
gateway: {runner: {kind: forward, url: "\${URL}", token: "\${T}"}, callbackSecret: "\${S}"}
storage: {url: "\${DATABASE_URL}"}
log: {level: "\${LEVEL}"}
console: {keys: {ada: {key: "\${KEY}", role: view}}}
`,
    },
    { needSecrets: false },
  );
  expect(findings).toEqual([]);
  expect(config?.settings.hooks).toMatchObject({ token: '${MISSING}', previousTokens: ['{file: nowhere}'] });
  expect(config?.settings.server.port).toBe(8787);
});

test('a hook token that equals the gateway token is refused without secrets, by reference as by value', async () => {
  const text = 'hooks: {enabled: true, token: "${ONE}"}\ngateway: {token: "${ONE}", runner: {kind: echo}}\n';
  for (const environment of [{}, { ONE: 'the-same' }]) {
    const { findings } = await load({ 'sluice.yaml': text }, { env: environment, needSecrets: false });
    expect(codes(findings)).toContain('TOKEN_REUSED');
  }
});

test('secrets never appear in findings', async () => {
  const { findings } = await load(
    {
      'sluice.yaml': `hooks: {enabled: true, token: ["\${SECRET}"], maxBodyBytes: "\${SECRET}"}
storage: {url: "\${SECRET}"}
gateway: {token: plain-gateway-token, callbackSecret: 12}
channels: {telegram: "\${SECRET}"}
`,
    },
    { env: { SECRET: 'sw0rdfish' } },
  );
  const text = JSON.stringify(
    findings.map(saidFinding).map(({ code, message, hint }) => ({ code, message, hint })),
  );
  expect(codes(findings)).toContain('WRONG_TYPE');
  expect(text).not.toContain('sw0rdfish');
  expect(text).not.toContain('plain-gateway-token');
});

test('a literal ${ is written $${', async () => {
  const { config } = await load(
    {
      'sluice.yaml': 'hooks: {enabled: true, token: "a$${b}c"}\nagents: {defaults: {model: "${M}-$${x}"}}',
    },
    { env: { M: 'm' } },
  );
  expect(config?.settings.hooks.token).toBe('a${b}c');
  expect(config?.settings.agents.defaults.model).toBe('m-${x}');
});

test('dev may start without a token', async () => {
  const { config, findings } = await load({ 'sluice.yaml': 'hooks: {enabled: true}' }, { dev: true });
  expect(findings).toEqual([]);
  expect(config?.settings.hooks.token).toBeUndefined();
});

test.each([
  ['hooks', '/hooks'],
  ['/a/b//', '/a/b'],
  ['//x', '/x'],
])('hooks.path %s is served as %s', async (written, path) => {
  const { config } = await load({ 'sluice.yaml': `hooks: {enabled: true, token: t0ken, path: ${written}}` });
  expect(config?.settings.hooks.path).toBe(path);
});

test.each(['/', '//', '', '/a/../b', '/a b', '/a#b', '/a//b'])(
  'hooks.path "%s" is refused',
  async (written) => {
    const { findings } = await load({
      'sluice.yaml': `hooks: {enabled: true, token: t0ken, path: "${written}"}`,
    });
    expect(codes(findings)).toContain('INVALID_HOOKS_PATH');
  },
);

test('the same text has the same hash, whatever the secrets are', async () => {
  const text = 'hooks: {enabled: true, token: "${T}"}';
  const first = await load({ 'sluice.yaml': text }, { env: { T: 'first' } });
  const second = await load({ 'sluice.yaml': text }, { env: { T: 'second' } });
  const third = await load({ 'sluice.yaml': `${text}\n` }, { env: { T: 'first' } });
  expect(first.config?.sha256).toBe(second.config?.sha256);
  expect(first.config?.sha256).not.toBe(third.config?.sha256);
});

test('hooks.gmail of an OpenClaw file becomes hooks.mail, with a warning per key that has no counterpart', async () => {
  const text = `{hooks: {enabled: true, token: 'hook-token-0123456789', presets: ['gmail'], gmail: {
    account: 'me@example.org', label: 'INBOX', topic: 'projects/p/topics/gog-gmail-watch',
    subscription: 'gog-gmail-watch-push', pushToken: 'push-token-0123456789', hookUrl: 'http://127.0.0.1:18789/hooks/gmail',
    includeBody: true, maxBytes: 20000, renewEveryMinutes: 720, serve: {bind: '127.0.0.1', port: 8788, path: '/'},
    tailscale: {mode: 'funnel', path: '/gmail-pubsub'}, model: 'a/b', thinking: 'off', allowUnsafeExternalContent: false,
  }}}`;
  const { config, findings, folder } = await loadNamed('openclaw.json', text, { env: {} });
  expect(config?.settings.hooks.mail).toEqual({
    version: 1,
    kind: 'gmail',
    run: false,
    path: 'gmail',
    account: 'me@example.org',
    topic: 'projects/p/topics/gog-gmail-watch',
    subscription: 'projects/p/subscriptions/gog-gmail-watch-push',
    folders: ['INBOX'],
    from: [],
    subject: [],
    accept: 'any',
    authServers: [],
    maxBodyChars: 20_000,
    oauthFile: join(folder, '.sluice/mail-oauth.json'),
  });
  const lost = findings
    .filter(({ code }) => code === 'NOT_TRANSLATED')
    .map(({ message }) => said(message).split(' ')[0]);
  expect(new Set(lost)).toEqual(
    new Set([
      'hooks.gmail.allowUnsafeExternalContent',
      'hooks.gmail.hookUrl',
      'hooks.gmail.pushToken',
      'hooks.gmail.renewEveryMinutes',
      'hooks.gmail.serve',
      'hooks.gmail.tailscale',
    ]),
  );
  expect(findings.filter(({ severity }) => severity === 'error')).toEqual([]);
});
