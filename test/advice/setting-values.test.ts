/** A number, a word or a flag in the place of a block of the configuration: the hint shows the block, the edit writes it. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { advise } from '../../src/advice/advice.ts';
import { loadConfig } from '../../src/config/config.ts';
import type { Finding } from '../../src/document/document.ts';
import { applyEdits, formatDiagnostics } from '../../src/document/facts.ts';
import { said } from '../support/said.ts';

const folder = mkdtempSync(join(tmpdir(), 'sluice-meant-'));
afterAll(() => rmSync(folder, { recursive: true }));

const HEAD = 'hooks: { enabled: true, token: "${HOOK_TOKEN}" }\n';

async function check(text: string): Promise<readonly Finding[]> {
  const file = join(folder, 'sluice.yaml');
  writeFileSync(file, text);
  const env = { HOOK_TOKEN: 'hook-token-from-env-0123456789' };
  const { diagnostics } = await loadConfig(file, { env, needSecrets: true, cwd: folder });
  return advise(diagnostics).filter(({ severity }) => severity === 'error');
}

test.each([
  ['storage: { url: ["sqlite:./data.db"] }', 'write it without [ ]'],
  ['gateway: { concurrency: 3 }', 'here it is called "maxRuns"'],
  ['gateway: { runner: claude }', 'write runner: {kind: claude}'],
])('%s is mended', async (line, hint) => {
  const text = `${HEAD}${line}\n`;
  const found = await check(text);
  expect(found.map((one) => said(one.hint))).toEqual([hint]);
  const fixed = applyEdits(
    readFileSync(join(folder, 'sluice.yaml'), 'utf8'),
    found.flatMap(({ edit }) => (edit === undefined ? [] : [edit])),
  );
  expect([fixed, await check(fixed)]).toEqual([fixed, []]);
});

test.each([
  [
    'gateway: { runner: { kind: forward, url: http://127.0.0.1:18789/hooks } }',
    /^add token: '\$\{OPENCLAW_HOOKS_TOKEN\}'/,
  ],
  [
    'agents: { list: [{ id: ops, model: anthropic/claude-x }] }',
    /write runners: \{ops: \{kind: claude, model: claude-x\}\} in gateway, and in the mapping of one runner: ops/,
  ],
  [
    'gateway: { port: 18789 }',
    /server\.port: in place of port write server: \{port: 18789\} at the top level$/,
  ],
  [
    'gateway: { bind: loopback }',
    /server\.host, and "127\.0\.0\.1" is its default: remove it, nothing changes$/,
  ],
  [
    'gateway: { auth: { token: hunter2 } }',
    /gateway\.token: in place of auth write token: "\$\{NAME\}" in gateway$/,
  ],
  ['gateway: { auth: { token: "${HOOK_TOKEN}" } }', /write token: "\$\{HOOK_TOKEN\}" in gateway$/],
  ['gateway: { token: { source: env, provider: default, id: GATEWAY } }', /write token: "\$\{GATEWAY\}"$/],
  ['gateway: { mode: local }', /^it is a key of OpenClaw: .*; remove it here$/],
  ['session: { scope: per-sender }', /sessionKey of a mapping .* gateway\.sessions: /],
  [
    'agents: { defaults: { heartbeat: { every: 1h, prompt: Look } } }',
    /write gateway: \{heartbeat: \{everySeconds: 3600, instructions: Look\}\} at the top level/,
  ],
  [
    'agents: { defaults: { heartbeat: { every: 2h, target: last, activeHours: { from: "08:00", end: "19:00", timeZone: Europe/Dublin } } } }',
    /in place of heartbeat write gateway: \{heartbeat: \{everySeconds: 7200, activeHours: \{to: "19:00", from: "08:00", timeZone: "Europe\/Dublin"\}\}\} at the top level$/,
  ],
  [
    'agents: { defaults: { heartbeat: { every: 30m, lightContext: true, activeHours: { days: [1] } } } }',
    /remove it, nothing changes; lightContext and activeHours\.days have no counterpart here$/,
  ],
  [
    'gateway: { auth: { mode: token, token: "${HOOK_TOKEN}" } }',
    /write token: "\$\{HOOK_TOKEN\}" in gateway$/,
  ],
  ['agents: { defaults: { model: { primary: a/b } } }', /^write model: "a\/b"$/],
  [
    'agents: { defaults: { model: { primary: a/b, fallbacks: [c/d] } } }',
    /^write model: "a\/b"; fallbacks has no counterpart here$/,
  ],
  [
    'agents: { defaults: { models: { a/b: { alias: big }, c/d: { params: {} } } } }',
    /^write models: \["a\/b", "c\/d"\], and beside it aliases: \{big: "a\/b"\}; params has no counterpart here$/,
  ],
  ['agents: { defaults: { models: { a/b: {}, c/d: {} } } }', /^write models: \["a\/b", "c\/d"\]$/],
  ['gateway: { runners: [{ kind: claude }] }', /write runners: \{claude: \{kind: claude\}\}/],
  ['gateway: { retry: 3 }', /remove it: an agent that is away is waited for/],
  ['gateway: { sessions: { turns: 5 } }', /maxTurns/],
  ['gateway: { runner: ./agent.sh --api-key hunter2 }', /^the runners are: /],
  ['gateway: { runner: "./agent.sh --token=hunter2 -v" }', /^the runners are: /],
  ['gateway: { runner: "API_TOKEN=hunter2 ./agent.sh" }', /^the runners are: /],
  ['gateway: { runner: \'curl -H "X-Api-Key: hunter2"\' }', /^the runners are: /],
  ['gateway: { runner: claude --api-key hunter2 }', /^the runners are: /],
  ['channels: { slack: xoxb-0123456789 }', /./],
  ['storage: "postgres://db/app?password=hunter2"', /./],
  ['storage: postgres://me:hunter2@db/work', /write storage: \{url: …\}/],
])('%s is told what to write', async (line, hint) => {
  const found = await check(`${HEAD}${line}\n`);
  expect(found.map((one) => said(one.hint))).toEqual([expect.stringMatching(hint)]);
  expect(found.map(({ edit }) => edit?.text)).not.toContainEqual(expect.stringContaining('sqlite:'));
  // A text in the place of such a block may be the secret itself.
  expect(formatDiagnostics(found)).not.toMatch(/hunter2|xoxb/);
});

const SESSION_KEYS =
  'in place of allowRequestSessionKey and defaultSessionKey write sessionKeys: {allowFromRequest: false, default: "hook:in"} in hooks';

test.each([
  [
    'allowRequestSessionKey: false',
    ['in place of allowRequestSessionKey write sessionKeys: {allowFromRequest: false} in hooks'],
  ],
  ['allowRequestSessionKey: true', ['and true is its default: remove it, nothing changes']],
  [
    'allowRequestSessionKey: false, sessionKeys: {default: a}',
    ['write allowFromRequest: false in hooks.sessionKeys'],
  ],
  ['allowRequestSessionKey: false, defaultSessionKey: "hook:in"', [SESSION_KEYS, SESSION_KEYS]],
  ['allowedSessionKeyPrefixes: ["hook:"]', ['write sessionKeys: {allowedPrefixes: ["hook:"]} in hooks']],
  [
    'allowedAgentIds: [a]}\ngateway: {port: 9, bind: lan',
    [
      'write agents: {allowed: [a]} in hooks',
      'server.port: in place of bind and port write server: {host: "0.0.0.0", port: 9} at the top level',
      'server.host: in place of bind and port write server: {host: "0.0.0.0", port: 9} at the top level',
    ],
  ],
  ['allowedAgentIds: []', ['write agents: {allowed: []} in hooks']],
  ['allowedAgentIds: [ops]', ['write agents: {allowed: [ops]} in hooks']],
  ['allowedAgentIds: ["*"]', ['remove it, nothing changes']],
])('hooks: {%s}, a word of OpenClaw, is told its place', async (keys, hints) => {
  const found = await check(`hooks: { enabled: true, token: "\${HOOK_TOKEN}", ${keys} }\n`);
  expect(found.map((one) => said(one.hint))).toEqual(hints.map((hint) => expect.stringContaining(hint)));
});

test.each([
  ['server: { bind: 127.0.0.1 }', 'here it is called "host"'],
  ['log: { level: warning }', 'write level: warn'],
  ['gateway: { runner: { kind: claude-code } }', 'write kind: claude'],
  ['gateway: { runner: { kind: claude, workspace: /srv } }', 'here it is called "cwd"'],
  [
    'gateway: { runners: [{ name: cc, kind: claude, access: edit }] }',
    'write runners: {cc: {kind: claude, access: …}}: each has a name, and its settings below it',
  ],
  [
    'channels: [{ type: telegram, botToken: hunter2 }]',
    'write channels: {telegram: {botToken: …}}: each has a name, and its settings below it',
  ],
  [
    'gateway: { runner: { kind: claude, passEnv: { GH_TOKEN: hunter2 } } }',
    expect.stringMatching(/write passEnv: \[GH_TOKEN\]/),
  ],
  ['server: { publicUrl: hooks.example.com }', 'write https://hooks.example.com'],
  [
    'gateway: { runner: { kind: forward, url: "localhost:18789/hooks", token: "${HOOK_TOKEN}x" } }',
    'write http://localhost:18789/hooks',
  ],
  ['gateway: { runner: { kind: model, provider: anthropic, apiKey: hunter2 } }', expect.stringMatching(/./)],
  [
    'gateway: { runner: { kind: http, url: "http://a.example/x?token=hunter2" } }',
    expect.stringMatching(/./),
  ],
  ['storage: { keepRequests: true }', 'write keepRequests: {which: all}'],
  [
    'channels: { sendgrid: { to: a@example.com } }',
    expect.stringMatching(/^write channel: email, and the SMTP server/),
  ],
  ['gateway: { heartbeat: { activeHours: { start: "08:00", to: "22:00" } } }', 'here it is called "from"'],
  ['gateway: { runner: { kind: model, provider: anthropic, api_key: hunter2 } }', expect.stringMatching(/./)],
  ['webhooks: { github: { secret: hunter2 } }', expect.stringMatching(/^each sender is a mapping/)],
  ['match: { path: a }\nmessageTemplate: x\nid: a', expect.stringMatching(/^this is a mapping/)],
  ['server: { tls: { cert: a.pem } }', expect.stringMatching(/^there is no TLS here/)],
])('%s is one word of others', async (line, hint) => {
  const found = await check(`${HEAD}${line}\n`);
  expect(found.map((one) => said(one.hint))).toEqual([hint]);
  expect(formatDiagnostics(found)).not.toContain('hunter2');
});

test.each([
  ['mappings: ./mappings', /write mappingsDir: \.\/mappings in its place/],
  ['mappings: { github: { match: { path: a } } }', /write "- id: github" in place of "github:"/],
  ['basePath: /in', /here it is called "path"/],
  ['presets: [github]', /"sluice add github"/],
])('hooks: {%s} is told what to write', async (line, hint) => {
  const found = await check(`hooks: { enabled: true, token: "\${HOOK_TOKEN}", ${line} }\n`);
  expect(found.map((one) => said(one.hint))).toEqual([expect.stringMatching(hint)]);
});

test('names that every object has are no words of others', async () => {
  const hooks = 'hooks: { enabled: constructor, toString: 1, valueOf: a, gmail: { constructor: 1 } }';
  const text = formatDiagnostics(await check(`${hooks}\nconstructor: 2\n`));
  expect(text).toContain('unknown key "toString" in hooks');
  expect(text).toContain('write true or false, without quotes');
  expect(text).not.toContain('native code');
});
