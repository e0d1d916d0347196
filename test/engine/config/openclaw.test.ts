/** OpenClaw files as their users write them: split, with secrets kept elsewhere, with channels and agents. */
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { OPENCLAW } from '../../../src/engine/config/openclaw/behaviours.ts';
import { loadConfig, type LoadedConfig } from '../../../src/engine/config/config.ts';
import type { LoadResult } from '../../../src/engine/config/load-config.ts';
import { said } from '../../support/said.ts';

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

interface Loaded extends LoadResult {
  readonly folder: string;
}

async function load(
  files: Readonly<Record<string, string>>,
  env: Readonly<Record<string, string>> = {},
  name = 'openclaw.json',
): Promise<Loaded> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-openclaw-'));
  folders.push(folder);
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  }
  const options = { env: { HOME: join(folder, 'home'), ...env }, needSecrets: true, cwd: folder };
  return { ...(await loadConfig(join(folder, name), options)), folder };
}

/** A folder for PATH that holds a command of that name. */
function commandFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-path-'));
  folders.push(folder);
  writeFileSync(join(folder, 'openclaw'), '#!/bin/sh\n');
  chmodSync(join(folder, 'openclaw'), 0o755);
  return folder;
}

const codes = ({ findings }: LoadResult): readonly string[] => findings.map(({ code }) => code);
const errors = ({ findings }: LoadResult): readonly string[] =>
  findings.filter(({ severity }) => severity === 'error').map(({ code }) => code);
const settingsOf = (loaded: Loaded): LoadedConfig['settings'] => {
  if (loaded.config === undefined)
    throw new Error(JSON.stringify(loaded.findings.map((d) => said(d.message))));
  return loaded.config.settings;
};

test('$include replaces, merges in order and gives way to the keys beside it', async () => {
  const loaded = await load({
    'openclaw.json': `{
      hooks: { $include: ['./parts/hooks.json5', './parts/more.json5'], path: '/in' },
      agents: { $include: 'parts/agents.json5' },
    }`,
    'parts/hooks.json5':
      "{enabled: true, token: 'from-part', path: '/lost', mappings: [{match: {path: 'a'}, messageTemplate: 'x'}]}",
    'parts/more.json5': "{token: 'from-more', mappings: [{match: {path: 'b'}, messageTemplate: 'y'}]}",
    'parts/agents.json5': "{defaults: {$include: 'defaults.json5'}}",
    'parts/defaults.json5': '{timeoutSeconds: 77}',
  });
  const { hooks, agents } = settingsOf(loaded);
  expect(hooks).toMatchObject({ token: 'from-more', path: '/in' });
  expect(agents.defaults.timeoutSeconds).toBe(77);
  const mappings = loaded.config?.inlineMappings ?? [];
  expect(mappings.map(({ value }) => value.at(['match', 'path']).value)).toEqual(['a', 'b']);
  const places = mappings.map(({ value }) => value.place(['match', 'path']).source.file);
  expect(places).toEqual([join('parts', 'hooks.json5'), join('parts', 'more.json5')]);
  expect(loaded.config?.files).toContain(join(loaded.folder, 'parts/defaults.json5'));
});

test('a wrong key in an included file is shown in that file', async () => {
  const loaded = await load({
    'openclaw.json': "{hooks: {$include: './hooks.json5'}}",
    'hooks.json5': "{enabled: true,\n token: 't0ken',\n maxBodyBytes: 'many'}",
  });
  const finding = loaded.findings.find(({ code }) => code === 'WRONG_TYPE');
  expect(finding?.at?.source.file).toBe('hooks.json5');
  expect(finding?.at?.source.text.slice(finding.at.start, finding.at.end)).toBe("'many'");
});

test.each([
  [
    'a circle',
    { 'openclaw.json': "{hooks: {$include: 'a.json5'}}", 'a.json5': "{x: {$include: 'a.json5'}}" },
  ],
  ['a missing file', { 'openclaw.json': "{hooks: {$include: 'gone.json5'}}" }],
  ['another folder', { 'openclaw.json': "{hooks: {$include: '../other.json5'}}" }],
  ['no text', { 'openclaw.json': '{hooks: {$include: 5}}' }],
])('$include of %s is a finding', async (_, files) => {
  expect(errors(await load(files))).toContain('INCLUDE_UNREADABLE');
});

test('a link does not lead $include out of the folder', async () => {
  const outside = mkdtempSync(join(tmpdir(), 'sluice-outside-'));
  folders.push(outside);
  writeFileSync(join(outside, 'secret.json5'), '{enabled: true}');
  const folder = mkdtempSync(join(tmpdir(), 'sluice-openclaw-'));
  folders.push(folder);
  symlinkSync(join(outside, 'secret.json5'), join(folder, 'linked.json5'));
  writeFileSync(join(folder, 'openclaw.json'), "{hooks: {$include: 'linked.json5'}}");
  const options = { needSecrets: true, cwd: folder };
  const refused = await loadConfig(join(folder, 'openclaw.json'), { ...options, env: {} });
  expect(errors(refused)).toContain('INCLUDE_UNREADABLE');
  const env = { OPENCLAW_INCLUDE_ROOTS: outside };
  const allowed = await loadConfig(join(folder, 'openclaw.json'), { ...options, env });
  expect(errors(allowed)).not.toContain('INCLUDE_UNREADABLE');
});

test('variables come from the process, .env beside the file, the state folder and env.vars, in this order', async () => {
  const loaded = await load(
    {
      'openclaw.json': `{
        env: { vars: { A: 'inline', B: 'inline', C: 'inline', D: 'inline-token' } },
        hooks: { enabled: true, token: '\${D}', path: '/\${A}-\${B}-\${C}' },
      }`,
      '.env': 'A=beside\nB=beside\n',
      'home/.openclaw/.env': 'A=state\nB=state\nC=state\n',
    },
    { A: 'process' },
  );
  expect(settingsOf(loaded).hooks).toMatchObject({ path: '/process-beside-state', token: 'inline-token' });
});

test('SecretRefs of env and file are read; exec is a finding that says what to write', async () => {
  const file = `{
    secrets: { providers: { vault: { source: 'file', path: 'secrets.json', mode: 'json' } } },
    gateway: { auth: { token: { source: 'file', provider: 'vault', id: '/gateway/token' } } },
    channels: { telegram: { botToken: { source: 'env', provider: 'default', id: 'TG' } } },
    hooks: { enabled: true, token: 'hook-token-of-this-file' },
  }`;
  const vault = { 'secrets.json': '{"gateway": {"token": "dollar-${NAME}-secret"}}' };
  const loaded = await load({ 'openclaw.json': file, ...vault }, { TG: 'tg-token', PATH: commandFolder() });
  const { gateway, channels } = settingsOf(loaded);
  expect(gateway.token).toBe('dollar-${NAME}-secret');
  expect(channels['telegram']).toEqual({ botToken: 'tg-token' });
  expect(loaded.config?.secrets).toEqual(expect.arrayContaining(['dollar-${NAME}-secret', 'tg-token']));
  const exec = file.replace(
    "{ source: 'env', provider: 'default', id: 'TG' }",
    "{ source: 'exec', id: 'x' }",
  );
  const refused = await load({ 'openclaw.json': exec, ...vault });
  expect(errors(refused)).toEqual(['SECRET_REF_UNREADABLE']);
});

test('channels keep their credentials and the account that sends; what cannot deliver is named with why', async () => {
  const loaded = await load(
    {
      'openclaw.json': `{
        hooks: { enabled: true, token: 't0ken-of-the-hooks' },
        channels: {
          defaults: { groupPolicy: 'open' },
          telegram: { enabled: true, defaultTo: 12345, accounts: { alerts: { botToken: 'a' }, default: { tokenFile: 'tg.txt' } } },
          discord: { dmPolicy: 'pairing' },
          slack: { botToken: 'xoxb-1', appToken: 'xapp-1', channels: { C1: { enabled: true } } },
          signal: { account: '+15551234567', transport: { kind: 'external-native', url: 'http://127.0.0.1:8080' } },
          whatsapp: { allowFrom: ['+15555550123'] },
          msteams: { appId: 'id', appPassword: 'pw', tenantId: 'tenant' },
          mattermost: { botToken: 'mm', baseUrl: 'https://chat.example.com' },
          imessage: { cliPath: '/usr/local/bin/imsg' },
          irc: { host: 'irc.example.com' },
          line: { enabled: false },
        },
      }`,
      'tg.txt': 'token-in-a-file\n',
    },
    { DISCORD_BOT_TOKEN: 'from-variable', PATH: commandFolder() },
  );
  expect(settingsOf(loaded).channels).toEqual({
    telegram: { botToken: 'token-in-a-file', to: 12345 },
    discord: { botToken: 'from-variable' },
    slack: { botToken: 'xoxb-1' },
    signal: { account: '+15551234567', baseUrl: 'http://127.0.0.1:8080' },
    msteams: { appId: 'id', appPassword: 'pw', tenantId: 'tenant' },
    mattermost: { botToken: 'mm', baseUrl: 'https://chat.example.com' },
    imessage: { cliPath: '/usr/local/bin/imsg' },
  });
  const lost = loaded.findings
    .filter(({ code }) => code === 'NOT_TRANSLATED')
    .map(({ message }) => said(message));
  expect(lost.map((message) => message.split(' ', 1)[0])).toEqual([
    'channels.telegram.accounts',
    'channels.whatsapp',
    'channels.irc',
  ]);
});

test('agents become runners where the command is there, with their allow-list', async () => {
  const text = `{
    hooks: { enabled: true, token: 't0ken-of-the-hooks', allowedAgentIds: ['ops'] },
    gateway: { port: 19001 },
    agents: { entries: { main: {}, ops: { model: 'a/b' } } },
  }`;
  const loaded = await load({ 'openclaw.json': text }, { PATH: commandFolder() });
  const { gateway, hooks } = settingsOf(loaded);
  expect(gateway.runner).toBe('openclaw');
  expect(Object.keys(gateway.runners).toSorted()).toEqual([
    'echo',
    'openclaw',
    'openclaw:main',
    'openclaw:ops',
  ]);
  expect(gateway.runners['openclaw:ops']).toMatchObject({ kind: 'openclaw', agent: 'ops' });
  expect(hooks.agents).toEqual({
    runners: { main: 'openclaw:main', ops: 'openclaw:ops' },
    default: 'main',
    allowed: ['ops'],
  });
  expect(codes(loaded)).not.toContain('OPENCLAW_NOT_FOUND');
  const listed = await load(
    { 'openclaw.json': text.replace("entries: { main: {}, ops: { model: 'a/b' } }", "list: [{id: 'ops'}]") },
    { PATH: commandFolder() },
  );
  expect(settingsOf(listed).hooks.agents.runners).toEqual({ ops: 'openclaw:ops' });
});

test('without the command the runner is echo, a warning says so, and nothing leaves through a channel', async () => {
  const loaded = await load({
    'openclaw.json':
      "{hooks: {enabled: true, token: 't0ken-of-the-hooks'}, channels: {telegram: {botToken: 'x'}}}",
  });
  expect(settingsOf(loaded).channels).toEqual({});
  expect(settingsOf(loaded).gateway.runner).toBe('echo');
  expect(codes(loaded)).toContain('OPENCLAW_NOT_FOUND');
});

test('the heartbeat, the longest run, the address and the proxies are those of the file', async () => {
  const loaded = await load(
    {
      'openclaw.json': `{
      hooks: { enabled: true, token: 't0ken-of-the-hooks' },
      gateway: { bind: 'lan', trustedProxies: ['10.0.0.1'] },
      agents: { defaults: { timeoutSeconds: 90, heartbeat: { every: '1h30m', target: 'telegram', to: '42',
        prompt: 'Look.', activeHours: { start: '08:00', end: '22:00', timezone: 'Europe/Berlin' } } } },
      channels: { telegram: { botToken: 'x' } },
    }`,
    },
    { PATH: commandFolder() },
  );
  const { server, gateway, agents } = settingsOf(loaded);
  expect(server).toMatchObject({ host: '0.0.0.0', trustedProxies: ['10.0.0.1'] });
  expect(agents.defaults.timeoutSeconds).toBe(90);
  expect(gateway.main).toEqual({ channel: 'telegram', to: '42' });
  expect(gateway.heartbeat).toMatchObject({
    everySeconds: 5400,
    instructions: 'Look.',
    activeHours: { from: '08:00', to: '22:00', timeZone: 'Europe/Berlin' },
  });
});

test('a sluice.yaml that extends it wins, and its mappings come first by their own rules', async () => {
  const loaded = await load(
    {
      'gateway/openclaw.json': `{
        hooks: { enabled: true, token: 'theirs-and-long-enough', transformsDir: 'mine',
          mappings: [{ match: { path: 'a' }, agentId: 'main', messageTemplate: 'x' }] },
        channels: { telegram: { botToken: 'x' } },
      }`,
      'gateway/hooks/transforms/mine/.keep': '',
      'sluice.yaml': `extends: gateway/openclaw.json
server: { port: 9000 }
gateway: { runner: { kind: echo } }
channels: { telegram: { to: '7' } }
hooks:
  mappings:
    - { id: own, match: { path: a }, messageTemplate: y }
`,
    },
    {},
    'sluice.yaml',
  );
  const { hooks, server, channels } = settingsOf(loaded);
  expect(hooks.token).toBe('theirs-and-long-enough');
  expect(hooks.transformsDir).toBe(join(loaded.folder, 'gateway/hooks/transforms/mine'));
  expect(hooks.lenient).toBe(true);
  expect(server.port).toBe(9000);
  expect(channels['telegram']).toEqual({ botToken: 'x', to: '7' });
  expect(loaded.config?.inlineMappings.map(({ behaviours }) => behaviours)).toEqual([{}, OPENCLAW]);
});

test('extends of anything else is a finding', async () => {
  const loaded = await load({ 'sluice.yaml': 'extends: other.yaml\n' }, {}, 'sluice.yaml');
  expect(errors(loaded)).toContain('EXTENDS_UNREADABLE');
});

test.each([
  ['openclaw.prod.json', `{ gateway: { bind: 'loopback' }, hooks: { enabled: true } }`],
  ['clawdbot.json', `{ hooks: { enabled: true, presets: ['gmail'] } }`],
  ['gateway.json', `{ "hooks": { "enabled": true, "gmail": { "account": "ada@example.com" } } }`],
])('%s is told as the file of a gateway, in one finding', async (name, text) => {
  const { folder: _, findings } = await load({ [name]: text }, {}, name);
  expect(findings.map(({ code }) => code)).toEqual(['NOT_A_CONFIGURATION']);
  expect(said(findings[0]!.message)).toContain('OpenClaw');
  expect(said(findings[0]!.hint)).toContain(`"sluice import openclaw ${name}"`);
});

test('a file of ours with a key of theirs is none of a gateway', async () => {
  const text = '{ "gateway": { "bind": "lan", "runner": { "kind": "echo" } } }';
  expect(codes(await load({ 'mine.json': text }, {}, 'mine.json'))).toContain('UNKNOWN_KEY');
});

test('transformsDir is told with the folder that was looked for', async () => {
  const text = `{ hooks: { enabled: true, token: 't0ken-of-the-hooks', transformsDir: './hooks' } }`;
  const { findings } = await load({ 'openclaw.json': text, 'hooks/d.cjs': '' });
  const found = findings.find(({ code }) => code === 'DIRECTORY_NOT_FOUND');
  expect(said(found!.message)).toContain(': hooks/transforms/hooks');
  expect(said(found!.hint)).toContain('hooks/transforms');
});
