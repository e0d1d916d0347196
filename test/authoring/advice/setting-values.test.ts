/** A number, a word or a flag in the place of a block of the configuration: the hint shows the block, the edit writes it. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { advise } from '../../../src/authoring/advice/advice.ts';
import { loadConfig } from '../../../src/engine/config/config.ts';
import type { Finding } from '../../../src/base/document/document.ts';
import { applyEdits, formatFindings } from '../../../src/base/document/facts.ts';
import { said } from '../../support/said.ts';

const folder = mkdtempSync(join(tmpdir(), 'sluice-meant-'));
afterAll(() => rmSync(folder, { recursive: true }));

const HEAD = 'hooks: { enabled: true, token: "${HOOK_TOKEN}" }\n';

async function check(text: string): Promise<readonly Finding[]> {
  const file = join(folder, 'sluice.yaml');
  writeFileSync(file, text);
  const env = { HOOK_TOKEN: 'hook-token-from-env-0123456789' };
  const { findings } = await loadConfig(file, { env, needSecrets: true, cwd: folder });
  return advise(findings).filter(({ severity }) => severity === 'error');
}

test.each([
  ['storage: { url: ["sqlite:./data.db"] }', 'write it without [ ]'],
  ['gateway: { concurrency: 3 }', 'rename it to "maxRuns"'],
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
    /remove this key of OpenClaw; here each agent has a runner, gateway\.runners/,
  ],
  ['gateway: { port: 18789 }', /^write 18789 at server\.port in place of this key of OpenClaw$/],
  ['gateway: { bind: loopback }', /^write "127\.0\.0\.1" at server\.host in place/],
  [
    'gateway: { auth: { token: hunter2 } }',
    /^write "\$\{NAME\}" at gateway\.token in place of this key of OpenClaw; what else stands in it is not taken over by that$/,
  ],
  ['gateway: { auth: { token: "${HOOK_TOKEN}" } }', /write "\$\{HOOK_TOKEN\}" at gateway\.token/],
  ['gateway: { token: { source: env, provider: default, id: GATEWAY } }', /write token: "\$\{GATEWAY\}"$/],
  ['gateway: { mode: local }', /^remove it: it is a key of OpenClaw, which nothing here reads$/],
  ['session: { scope: per-sender }', /sessionKey of a mapping .* gateway\.sessions /],
  [
    'agents: { defaults: { heartbeat: { every: 1h, prompt: Look } } }',
    /write 3600 at gateway\.heartbeat\.everySeconds and "Look" at gateway\.heartbeat\.instructions in place/,
  ],
  ['agents: { defaults: { model: { primary: a/b } } }', /^write model: "a\/b"$/],
  [
    'agents: { defaults: { model: { primary: a/b, fallbacks: [c/d] } } }',
    /^write model: "a\/b"; what else stands in it has no counterpart here$/,
  ],
  [
    'agents: { defaults: { models: { a/b: { alias: big }, c/d: { params: {} } } } }',
    /^write models: \["a\/b","c\/d"\]; what else stands in it has no counterpart here$/,
  ],
  ['agents: { defaults: { models: { a/b: {}, c/d: {} } } }', /^write models: \["a\/b","c\/d"\]$/],
  ['gateway: { retry: 3 }', /remove it: an agent that is away is waited for/],
  ['gateway: { sessions: { turns: 5 } }', /maxTurns/],
  ['gateway: { runner: ./agent.sh --api-key hunter2 }', /^choose one of the runners: /],
  ['gateway: { runner: "./agent.sh --token=hunter2 -v" }', /^choose one of the runners: /],
  ['gateway: { runner: "API_TOKEN=hunter2 ./agent.sh" }', /^choose one of the runners: /],
  ['gateway: { runner: \'curl -H "X-Api-Key: hunter2"\' }', /^choose one of the runners: /],
  ['gateway: { runner: claude --api-key hunter2 }', /^choose one of the runners: /],
  ['channels: { slack: xoxb-0123456789 }', /./],
  ['storage: "postgres://db/app?password=hunter2"', /./],
  ['storage: postgres://me:hunter2@db/work', /write storage: \{url: …\}/],
])('%s is told what to write', async (line, hint) => {
  const found = await check(`${HEAD}${line}\n`);
  expect(found.map((one) => said(one.hint))).toEqual([expect.stringMatching(hint)]);
  expect(found.map(({ edit }) => edit?.text)).not.toContainEqual(expect.stringContaining('sqlite:'));
  // A text in the place of such a block may be the secret itself.
  expect(formatFindings(found)).not.toMatch(/hunter2|xoxb/);
});

test.each([
  [
    'allowRequestSessionKey: false',
    ['write false at hooks.sessionKeys.allowFromRequest in place of this key of OpenClaw'],
  ],
  [
    'defaultSessionKey: "hook:in"',
    ['write "hook:in" at hooks.sessionKeys.default in place of this key of OpenClaw'],
  ],
  [
    'allowedSessionKeyPrefixes: ["hook:"]',
    ['write ["hook:"] at hooks.sessionKeys.allowedPrefixes in place of this key of OpenClaw'],
  ],
  [
    'allowedAgentIds: [a]}\ngateway: {port: 9, bind: lan',
    [
      'write ["a"] at hooks.agents.allowed in place of this key of OpenClaw',
      'write 9 at server.port in place of this key of OpenClaw',
      'write "0.0.0.0" at server.host in place of this key of OpenClaw',
    ],
  ],
])('hooks: {%s}, a word of OpenClaw, is told its place', async (keys, hints) => {
  const found = await check(`hooks: { enabled: true, token: "\${HOOK_TOKEN}", ${keys} }\n`);
  expect(found.map((one) => said(one.hint))).toEqual(hints.map((hint) => expect.stringContaining(hint)));
});

test.each([
  ['server: { bind: 127.0.0.1 }', 'rename it to "host"'],
  ['gateway: { runner: { kind: claude, workspace: /srv } }', 'rename it to "cwd"'],
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
  [
    'channels: { sendgrid: { to: a@example.com } }',
    expect.stringMatching(/^write channel: email, and the SMTP server/),
  ],
  ['gateway: { heartbeat: { activeHours: { start: "08:00", to: "22:00" } } }', 'rename it to "from"'],
  ['gateway: { runner: { kind: model, provider: anthropic, api_key: hunter2 } }', expect.stringMatching(/./)],
  ['webhooks: { github: { secret: hunter2 } }', expect.stringMatching(/^write a mapping for each sender/)],
  ['match: { path: a }\nmessageTemplate: x\nid: a', expect.stringMatching(/^move the keys of this mapping/)],
  ['server: { tls: { cert: a.pem } }', expect.stringMatching(/there is no TLS here$/)],
])('%s is one word of others', async (line, hint) => {
  const found = await check(`${HEAD}${line}\n`);
  expect(found.map((one) => said(one.hint))).toEqual([hint]);
  expect(formatFindings(found)).not.toContain('hunter2');
});

test.each([
  ['mappings: ./mappings', /write mappingsDir: \.\/mappings in its place/],
  ['mappings: { github: { match: { path: a } } }', /write a list: "- id: NAME"/],
  ['basePath: /in', /rename it to "path"/],
  ['presets: [github]', /"sluice add github"/],
])('hooks: {%s} is told what to write', async (line, hint) => {
  const found = await check(`hooks: { enabled: true, token: "\${HOOK_TOKEN}", ${line} }\n`);
  expect(found.map((one) => said(one.hint))).toEqual([expect.stringMatching(hint)]);
});

test('names that every object has are no words of others', async () => {
  const hooks = 'hooks: { enabled: constructor, toString: 1, valueOf: a, gmail: { constructor: 1 } }';
  const text = formatFindings(await check(`${hooks}\nconstructor: 2\n`));
  expect(text).toContain('unknown key "toString" in hooks');
  expect(text).toContain('write true or false, without quotes');
  expect(text).not.toContain('native code');
});
