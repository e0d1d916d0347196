/**
 * Six OpenClaw configurations as people write them, through the whole of loading and evaluation. What a request has to
 * become was written by the real package (`test/lab/endurance/openclaw-expected.ts`).
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import type { Action } from '../../../src/base/action.ts';
import { advise } from '../../../src/authoring/advice/advice.ts';
import { inOpenClawFile } from '../../../src/authoring/advice/openclaw-files.ts';
import { quoted } from '../../../src/base/finding.ts';
import { said } from '../../support/said.ts';
import { importOpenClawFile, type ImportedConfig } from '../../../src/engine/config/facts.ts';
import {
  loadGeneration,
  openLiveGeneration,
  type LoadedGeneration,
} from '../../../src/service/generation/generation.ts';
import { createHealth, createLogger } from '../../../src/base/telemetry/telemetry.ts';
import type { Outcome } from '../../../src/engine/hook/facts.ts';
import type { JsonValue } from '../../../src/base/request.ts';
import { Sandbox } from '../../../src/engine/sandbox/sandbox.ts';

const FIXTURES = fileURLToPath(new URL('../../fixtures/openclaw/', import.meta.url));
const sandbox = new Sandbox({ workers: 1, spare: 0 });
afterAll(() => sandbox.stop());

/** `hooks.gmail.model` of the configuration mail. */
const GMAIL = { model: 'openai/gpt-5-mini' };

interface Sent {
  readonly path: string;
  readonly url?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly payload: JsonValue;
}

interface Theirs {
  readonly ok: boolean;
  readonly error?: string;
  readonly actions?: readonly Readonly<Record<string, unknown>>[];
}

const read = (name: string, file: string): unknown =>
  JSON.parse(readFileSync(`${FIXTURES}${name}/${file}`, 'utf8'));

const ENV = {
  OPENCLAW_HOOKS_TOKEN: 'a-hook-token-of-its-own',
  OPENCLAW_GATEWAY_TOKEN: 'a-gateway-secret-of-its-own',
  // Where the command openclaw is found, for what depends on it.
  PATH: fileURLToPath(new URL('../../fixtures/openclaw/bin', import.meta.url)),
};

function load(name: string): Promise<LoadedGeneration> {
  return loadGeneration(`${FIXTURES}${name}/openclaw.json`, { env: ENV, needSecrets: true, sandbox });
}

async function evaluate({ generation }: LoadedGeneration, sent: Sent): Promise<Outcome> {
  if (generation === undefined) throw new Error('the file did not load');
  const url = sent.url ?? `/hooks/${sent.path}`;
  const query = Object.fromEntries(new URL(url, 'http://localhost').searchParams);
  const evaluation = await generation.evaluate(
    {
      id: '5f0c0000-0000-4000-8000-000000000000',
      receivedAt: 1_795_305_600_000,
      seed: 1,
      nonce: '0123456789abcdef',
      path: sent.path,
      url,
      headers: sent.headers ?? {},
      query,
      payload: sent.payload,
      bodySha256: '',
    },
    { detail: 'full' },
  );
  return evaluation.outcome;
}

/** The fields of an action that both know, as theirs writes them. */
function comparable(action: Action): object {
  if (action.kind === 'wake') return { kind: 'wake', text: action.text.trim(), mode: action.mode };
  if (action.kind === 'notify') throw new Error('theirs has no notifications');
  const {
    message,
    sessionKey,
    oneShot,
    wakeMode,
    deliver,
    name,
    channel,
    to,
    model,
    thinking,
    timeoutSeconds,
  } = action;
  return {
    kind: 'agent',
    message: message.trim(),
    sessionKey: oneShot ? undefined : sessionKey,
    wakeMode,
    deliver,
    name,
    channel,
    to,
    model,
    thinking,
    timeoutSeconds,
  };
}

/** Their action with the defaults of their dispatcher filled in. */
function expected(action: Readonly<Record<string, unknown>>): object {
  const text = (value: unknown): string => String(value).trim();
  if (action['kind'] === 'wake') return { kind: 'wake', text: text(action['text']), mode: action['mode'] };
  const { message, sessionKey, wakeMode, deliver = true, name = 'Hook', channel = 'last' } = action;
  const { to, model, thinking, timeoutSeconds } = action;
  const kind = 'agent';
  return {
    kind,
    message: text(message),
    sessionKey,
    wakeMode,
    deliver,
    name,
    channel,
    to,
    model,
    thinking,
    timeoutSeconds,
  };
}

describe.each(['first', 'mail', 'repository', 'home', 'agents'])('the configuration %s', (name) => {
  test('loads as it is, without an error', async () => {
    const { generation, findings } = await load(name);
    const errors = findings.filter(({ severity }) => severity === 'error').map(({ message }) => message);
    expect(errors).toEqual([]);
    expect(generation).toBeDefined();
  });

  test('makes of every request what the gateway makes of it', async () => {
    const loaded = await load(name);
    const requests = read(name, 'requests.json') as readonly Sent[];
    const theirs = read(name, 'expected.json') as readonly (Theirs | null)[];
    expect(theirs).toHaveLength(requests.length);
    for (const [index, sent] of requests.entries()) {
      const outcome = await evaluate(loaded, sent);
      const wanted = theirs[index];
      if (wanted?.ok === false) {
        expect(outcome.kind === 'rejected' ? outcome.error.status : outcome.kind).toBe(400);
      } else if (wanted?.actions?.length === 0) {
        expect(outcome.kind).toBe('skipped');
      } else {
        const actions = outcome.kind === 'accepted' ? outcome.actions : [];
        expect(actions.map(comparable)).toEqual(
          // Their dispatcher fills in the model of hooks.gmail after its mappings.
          (wanted?.actions ?? []).map((action) => expected({ ...(name === 'mail' ? GMAIL : {}), ...action })),
        );
      }
    }
  });
});

test('agentId picks the runner of that agent, and the allow-list holds', async () => {
  const loaded = await load('agents');
  const runnerOf = async (sent: Sent): Promise<string | undefined> => {
    const outcome = await evaluate(loaded, sent);
    const [action] = outcome.kind === 'accepted' ? outcome.actions : [];
    return action?.kind === 'agent' ? action.runner : outcome.kind;
  };
  expect(await runnerOf({ path: 'ops', payload: { text: 'x' } })).toBe('openclaw:ops');
  expect(await runnerOf({ path: 'main', payload: { text: 'x' } })).toBe('openclaw:main');
  expect(await runnerOf({ path: 'agent', payload: { message: 'x', agentId: 'ops' } })).toBe('openclaw:ops');
  expect(await runnerOf({ path: 'agent', payload: { message: 'x', agentId: 'private' } })).toBe('rejected');
  expect(await runnerOf({ path: 'agent', payload: { message: 'x', agentId: 'nobody' } })).toBe('rejected');
});

test('one bad mapping is out, not the service: its requests are answered 503, the others go on', async () => {
  const loaded = await load('broken');
  const results: unknown[] = [];
  for (const sent of read('broken', 'requests.json') as readonly Sent[]) {
    const outcome = await evaluate(loaded, sent);
    results.push(outcome.kind === 'rejected' ? outcome.error.status : outcome.kind);
  }
  expect(results).toEqual(['accepted', 503, 503, 503, 503]);
  const errors = loaded.findings.filter(({ severity }) => severity === 'error').map(({ code }) => code);
  expect(errors).toEqual(expect.arrayContaining(['UNKNOWN_CHANNEL', 'DUPLICATE_MAPPING_ID', 'WRONG_TYPE']));
});

test('the service says which mappings are out as long as they are', async () => {
  const health = createHealth({ log: { warn: () => {}, info: () => {} } });
  const log = createLogger({ destination: { write: () => true } });
  const options = { configFile: `${FIXTURES}broken/openclaw.json`, env: ENV, log, health };
  await openLiveGeneration(options, sandbox);
  const [condition] = health.degraded();
  expect(condition).toMatchObject({ code: 'mapping_out', count: 4 });
});

describe('a file as it is written', () => {
  const folders: string[] = [];
  afterAll(() => {
    for (const folder of folders) rmSync(folder, { recursive: true });
  });

  async function loadFile(
    mappings: readonly object[],
    files: Readonly<Record<string, string>> = {},
    name = 'openclaw.json',
    env: Readonly<Record<string, string>> = ENV,
  ): Promise<LoadedGeneration> {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-theirs-'));
    folders.push(folder);
    const config = {
      hooks: { enabled: true, token: '${OPENCLAW_HOOKS_TOKEN}', mappings },
      channels: { feishu: { appId: 'x' } },
    };
    const all = { 'openclaw.json': JSON.stringify(config), ...files };
    for (const [file, text] of Object.entries(all)) {
      mkdirSync(dirname(join(folder, file)), { recursive: true });
      writeFileSync(join(folder, file), text);
    }
    return loadGeneration(join(folder, name), {
      env,
      needSecrets: true,
      sandbox,
      advise: (findings, subjects) => Promise.resolve(advise(findings, subjects)),
    });
  }

  const transform = (code: string) => ({ 'hooks/transforms/t.mjs': code });
  const t = { id: 't', match: { path: 't' }, transform: { module: 't.mjs' } };
  const withCode = ({ findings }: LoadedGeneration, code: string) =>
    findings.filter((finding) => finding.code === code);

  test('a channel that only the gateway has takes runs, and one warning each says where replies are', async () => {
    const message = { messageTemplate: '{{a}}' };
    const loaded = await loadFile([
      { id: 'f', match: { path: 'f' }, ...message, channel: 'feishu', to: 'oc_1' },
      { id: 'q', match: { path: 'q' }, ...message, channel: 'qqbot', to: 'qqbot:c2c:1' },
      { id: 'again', match: { path: 'again' }, ...message, channel: 'qqbot' },
      { id: 'w', match: { path: 'w' }, ...message, channel: 'webchat', deliver: false },
    ]);
    for (const path of ['f', 'q', 'w'])
      expect(await evaluate(loaded, { path, payload: { a: 1 } })).toMatchObject({ kind: 'accepted' });
    expect(withCode(loaded, 'UNKNOWN_CHANNEL')).toEqual([]);
    expect(withCode(loaded, 'CHANNEL_NOT_CONFIGURED').map((one) => said(one.message))).toEqual([
      expect.stringContaining('replies to qqbot are not sent from here'),
    ]);
    expect(withCode(loaded, 'NOT_TRANSLATED').map((one) => said(one.message))).toEqual([
      expect.stringContaining('replies to feishu are not sent from here'),
    ]);
    const mappings = ['qqbot', 'irc', 'feishu', 'qqbot'].map((channel, at) => ({
      match: { path: `m${at}` },
      ...message,
      channel,
    }));
    // OPENCLAW_NOT_FOUND says it of the whole file.
    const alone = await loadFile(mappings, {}, 'openclaw.json', { ...ENV, PATH: '' });
    expect(withCode(alone, 'OPENCLAW_NOT_FOUND')).toHaveLength(1);
    expect(withCode(alone, 'CHANNEL_NOT_CONFIGURED')).toEqual([]);
    const own = { 'sluice.yaml': 'extends: openclaw.json\ngateway: {runner: {kind: claude}}\n' };
    const found = withCode(await loadFile(mappings, own, 'sluice.yaml'), 'CHANNEL_NOT_CONFIGURED');
    expect(found.map((one) => said(one.message).replace(/,.*:/, ':'))).toEqual(
      ['qqbot', 'irc', 'feishu'].map(
        (id) => `replies to ${id} are not sent from here: only the gateway has this channel`,
      ),
    );
    const wrong = await loadFile([{ match: { path: 'x' }, ...message, channel: 'telegrm' }]);
    expect(withCode(wrong, 'UNKNOWN_CHANNEL')).toHaveLength(1);
  });

  test('a transform vouches for its session key by sessionKeySource; check tells one that does not', async () => {
    const code = (more: string) =>
      `export default ({ payload }) => ({ message: 'm', sessionKey: 'hook:' + payload.id${more} });`;
    const own = await loadFile([t], transform(code(", sessionKeySource: 'static'")));
    const sent = { path: 't', payload: { id: 'c77' } };
    expect(await evaluate(own, sent)).toMatchObject({
      kind: 'accepted',
      actions: [{ sessionKey: 'hook:c77' }],
    });
    expect(withCode(own, 'SESSION_KEY_REFUSED')).toEqual([]);
    for (const more of ['', ", sessionKeySource: 'templated'"])
      expect(await evaluate(await loadFile([t], transform(code(more))), sent)).toMatchObject({
        kind: 'rejected',
      });
    const [found] = withCode(await loadFile([t], transform(code(''))), 'SESSION_KEY_REFUSED');
    expect(found?.at?.source.file).toMatch(/openclaw\.json$/);
  });

  test('a body null is an empty one, and a list stays one', async () => {
    const code = `export default ({ payload }) => ({ message: JSON.stringify(payload) });`;
    const loaded = await loadFile([t], transform(code));
    const messageOf = async (payload: JsonValue): Promise<unknown> => {
      const outcome = await evaluate(loaded, { path: 't', payload });
      return outcome.kind === 'accepted' && outcome.actions[0]?.kind === 'agent'
        ? outcome.actions[0].message
        : outcome;
    };
    expect(await messageOf(null)).toBe('{}');
    expect(await messageOf([1])).toBe('[1]');
  });

  test.each([
    '{{#alerts}}x{{/alerts}}',
    '{{#each alerts}}{{name}}{{/each}}',
    '{{#if a}}b{{else}}c{{/if}}',
    '{{json payload}}',
    '{{truncate body 20}}',
    '{{a | upper}}',
    '{{a || "x"}}',
    '{{$json.x}}',
    '{{.Status}}',
    '{title}',
    '${title}',
    '{% if a %}x{% endif %}',
  ])('%s is no template of a gateway', async (messageTemplate) => {
    const { findings } = await loadFile([{ match: { path: 'x' }, messageTemplate }]);
    const found = findings.filter(({ code }) => code.startsWith('TEMPLATE_'));
    expect(found).toMatchObject([{ severity: 'warning' }]);
    const hint = said(found[0]!.hint);
    // What its gateway does not read is for a file of ours.
    expect(hint.replaceAll(/\{\{[\w.]+\}\}/g, '')).toMatch(/^(?!.*\{\{)|extends: openclaw\.json/);
  });

  test.each(['{{fields.Due Date}}', '{{@type}}', '{{x.0}} {{messages[0].from}}', '{{payload}} { not one }'])(
    '%s is a template of a gateway',
    async (messageTemplate) => {
      const { findings } = await loadFile([{ match: { path: 'x' }, messageTemplate }]);
      expect(findings.filter(({ code }) => code.startsWith('TEMPLATE_'))).toEqual([]);
    },
  );

  test('keys that its gateway does not know are told, each once', async () => {
    const env = { module: 't.mjs', env: { A: 'b' } };
    const mapping = {
      match: { path: 'x', when: { '==': [{ var: 'a' }, 1] } },
      dedupe: 'body',
      transform: env,
    };
    const loaded = await loadFile([mapping], transform('export default () => ({ message: process.env.B });'));
    const told = withCode(loaded, 'UNKNOWN_KEY');
    expect(told.map(({ message }) => said(message).match(/"[^"]+"/)?.[0])).toEqual([
      '"match.when"',
      '"dedupe"',
      '"transform.env"',
    ]);
    for (const finding of [...told, ...withCode(loaded, 'TRANSFORM_ENV_MISSING')])
      expect(said(finding.hint)).toContain('sluice.yaml with "extends: openclaw.json"');
    // They work all the same.
    expect(await evaluate(loaded, { path: 'x', payload: { a: 2 } })).toMatchObject({ kind: 'rejected' });
  });

  test('what is advised for a file of ours ends the findings there', async () => {
    const theirs = [{ id: 'gh', match: { path: 'gh' }, messageTemplate: '{{action}}' }];
    const own = `extends: openclaw.json
server: {port: 0}
hooks: {mappings: [{id: own, match: {path: gh}, verify: {scheme: github, secrets: ['\${OPENCLAW_GATEWAY_TOKEN}']}, messageTemplate: '{{#each alerts}}{{name}}{{/each}}'}]}
`;
    const loaded = await loadFile(theirs, { 'sluice.yaml': own }, 'sluice.yaml');
    expect(loaded.findings.filter(({ code }) => code !== 'NOT_TRANSLATED')).toEqual([]);
    expect(await evaluate(loaded, { path: 'gh', payload: { alerts: [{ name: 'a' }] } })).toMatchObject({
      kind: 'accepted',
      actions: [{ message: 'a' }],
    });
  });
});

test.each([
  ['write verify: {scheme: github} in gh (.openclaw/openclaw.json:7:19), beside match', true],
  ['write bodyFormat: form in gh (/home/ada/.openclaw/openclaw.json5:7:19), beside match', true],
  ['write {{item.id}} in m (openclaw.json:1:1)', true],
  ['write {{#each a}}{{b}}{{/each}} in m (openclaw.json:1:1)', true],
  ['write headers.x-a in m (openclaw.json:1:1)', false],
  ['write {{messages[0].from}} in m (openclaw.json:1:1)', false],
  ['write verify: {scheme: github} in gh (mappings/gh.yaml:7:1), beside match', false],
])('advice that a gateway does not know goes into a file of ours: %s', (text, isMoved) => {
  const printed = said(inOpenClawFile(quoted(text)));
  expect(printed.includes('"extends: openclaw.json"')).toBe(isMoved);
  if (isMoved) expect(printed).not.toMatch(/openclaw\.json5?:\d/);
});

describe('sluice import openclaw', () => {
  const folders: string[] = [];
  afterAll(() => {
    for (const folder of folders) rmSync(folder, { recursive: true });
  });

  async function importInto(
    name: string,
  ): Promise<{ readonly folder: string; readonly imported: ImportedConfig }> {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-import-'));
    folders.push(folder);
    const file = `${FIXTURES}${name}/openclaw.json`;
    const { imported } = await importOpenClawFile(file, { env: ENV, cwd: folder, into: folder });
    if (imported === undefined) throw new Error('nothing was imported');
    for (const { name: path, text } of imported.files) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
    return { folder, imported };
  }

  test.each(['first', 'home', 'agents'])('%s: what is written does the same', async (name) => {
    const { folder } = await importInto(name);
    const loaded = await loadGeneration(join(folder, 'sluice.yaml'), {
      env: ENV,
      needSecrets: true,
      sandbox,
    });
    const errors = loaded.findings
      .filter(({ severity }) => severity === 'error')
      .map(({ message }) => message);
    expect(errors).toEqual([]);
    const theirs = read(name, 'expected.json') as readonly (Theirs | null)[];
    for (const [index, sent] of (read(name, 'requests.json') as readonly Sent[]).entries()) {
      const outcome = await evaluate(loaded, sent);
      const words = (outcome.kind === 'accepted' ? outcome.actions : []).map((action) =>
        action.kind === 'wake' ? action.text.trim() : action.message.trim(),
      );
      const wanted = (theirs[index]?.actions ?? []).map(({ text, message }) =>
        String(text ?? message).trim(),
      );
      expect(words).toEqual(wanted);
    }
  });

  test('no secret stands in what is meant to be shared', async () => {
    for (const name of ['mail', 'home']) {
      const { imported } = await importInto(name);
      const shared = imported.files
        .filter(({ isSecret }) => !isSecret)
        .map(({ text }) => text)
        .join('\n');
      for (const secret of [
        'a-hook-token-of-its-own',
        'a-gateway-secret-of-its-own',
        '123:telegram',
        'xoxb-1',
      ]) {
        expect(shared).not.toContain(secret);
      }
      expect(
        imported.files.some(({ isSecret, text }) => isSecret && text === 'a-hook-token-of-its-own\n'),
      ).toBe(true);
      expect(imported.lost.join()).toContain(name === 'mail' ? 'gmail' : '');
    }
  });

  async function importText(text: string): Promise<ImportedConfig | undefined> {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-import-'));
    folders.push(folder);
    writeFileSync(join(folder, 'openclaw.json'), text);
    const options = { env: ENV, cwd: folder, into: folder };
    return (await importOpenClawFile(join(folder, 'openclaw.json'), options)).imported;
  }

  test('passwords, numbers and addresses stand in no shared file, limits and what is read elsewhere do', async () => {
    const env = {
      PASS: 'word-of-a-runner',
      PIN_TOKEN: 1_234_567_890,
      JWT: '${JWT}',
      MAX_TOKENS: 4096,
      PWD: '',
      PLAIN: 'p',
    };
    const imported = await importText(
      JSON.stringify({
        gateway: { runner: { kind: 'command', argv: ['cat'], env } },
        storage: { url: 'postgres://joe:word-of-a-store@db/sluice' },
      }),
    );
    const secrets = imported?.files.filter(({ isSecret }) => isSecret).map(({ text }) => text.trim());
    expect(secrets).toEqual(['postgres://joe:word-of-a-store@db/sluice', 'word-of-a-runner', '1234567890']);
    const main = imported?.files[0]?.text;
    expect(main).not.toMatch(/word-of|1234567890/);
    for (const kept of ['JWT: ${JWT}\n', 'PWD: ""\n', 'MAX_TOKENS: 4096\n', 'PLAIN: p\n'])
      expect(main).toContain(kept);
  });

  test('secrets below names that differ by a sign stand in files of their own', async () => {
    const runner = (token: string): object => ({ kind: 'command', argv: ['cat'], env: { API_TOKEN: token } });
    const runners = { 'a.b': runner('token-one'), 'a-b': runner('token-two') };
    const imported = await importText(JSON.stringify({ gateway: { runners } }));
    const secrets = imported?.files.filter(({ isSecret }) => isSecret);
    expect(secrets?.map(({ text }) => text)).toEqual(['token-one\n', 'token-two\n']);
    const main = imported?.files[0]?.text;
    for (const { name } of secrets ?? []) expect(main).toContain(`file: ./${name}\n`);
    expect(new Set(secrets?.map(({ name }) => name)).size).toBe(2);
  });
});
