import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { OPENCLAW } from '../../../src/engine/config/openclaw/behaviours.ts';
import { createReferenceReader } from '../../../src/engine/config/config.ts';
import { loadMappings } from '../../../src/engine/mapping/mapping.ts';
import { mappingJsonSchema } from '../../../src/engine/mapping/facts.ts';
import type { LoadedMappings } from '../../../src/engine/mapping/mapping.ts';
import { HELPERS } from '../../../src/engine/mapping/template/template-helpers.ts';
import { readPage } from '../../support/docs.ts';
import { codesOf, compileList, compileYaml, tableOf } from '../../support/mapping-compile.ts';
import { located, scopeOf } from '../../support/mapping-scope.ts';

const FULL = `
id: github-push
enabled: true
match:
  path: /github/
  source: github
  when: {"===": [{"var": "headers.x-github-event"}, "push"]}
action: agent
name: GitHub
wakeMode: next-heartbeat
sessionKey: "hook:github:{{repository.full_name}}"
instructions: Summarise this push.
messageTemplate: "{{pusher.name}} pushed"
deliver: false
channel: Teams
to: 19:abc@thread.v2
model: opus
thinking: low
timeoutSeconds: 1.5
allowUnsafeExternalContent: false
transform: {module: github.ts, export: run, timeoutMs: 30000, memoryMb: 8, reuse: true}
forEach: payload.data[0].items
runner: claude
fallback: {channel: imsg, to: 491701234567}
callbackUrl: https://example.com/done
dedupe: {key: "{{headers.x-github-delivery}}", ttlSeconds: 60}
maxBodyBytes: 1000
`;

describe('a mapping', () => {
  test('is compiled with every field of its file', () => {
    const [mapping] = tableOf(compileYaml(FULL)).mappings;
    const scope = scopeOf(
      { repository: { full_name: 'o/r' }, pusher: { name: 'Ann' } },
      { headers: { 'x-github-delivery': 'd1' } },
    );
    expect(mapping).toMatchObject({
      id: 'github-push',
      order: 0,
      match: { path: 'github', source: 'github' },
      action: 'agent',
      wakeMode: 'next-heartbeat',
      instructions: 'Summarise this push.',
      deliver: false,
      timeoutSeconds: 1.5,
      allowUnsafeExternalContent: false,
      transform: {
        module: 'github.ts',
        export: 'run',
        timeoutMs: 30_000,
        memoryMb: 8,
        maxResultBytes: 1_048_576,
        reuse: true,
        jit: false,
      },
      forEach: { keys: ['data', '0', 'items'], text: 'payload.data[0].items' },
      runner: 'claude',
      fallback: { channel: 'imessage', to: '491701234567' },
      callbackUrl: 'https://example.com/done',
      dedupe: { ttlSeconds: 60 },
      settings: { maxBodyBytes: 1000 },
    });
    expect(mapping?.sessionKey?.render(scope)).toBe('hook:github:o/r');
    expect(mapping?.text?.render(scope)).toBe('Ann pushed');
    expect(mapping?.to?.literal).toBe('19:abc@thread.v2');
    const { key } = mapping?.dedupe ?? {};
    expect(key === 'body' ? key : key?.render(scope)).toBe('d1');
  });

  test('has defaults for all it leaves out', () => {
    const [mapping] = tableOf(compileYaml('messageTemplate: x\ntransform: a.js\ndedupe: body')).mappings;
    expect(mapping).toMatchObject({
      id: 'mapping-1',
      match: {},
      action: 'agent',
      allowUnsafeExternalContent: false,
      settings: {},
      transform: { module: 'a.js', timeoutMs: 1000, memoryMb: 64, maxLogBytes: 65_536, reuse: false },
      dedupe: { key: 'body', ttlSeconds: 86_400 },
    });
    expect(Object.keys(mapping?.match ?? {})).toEqual([]);
  });

  test.each(['', '/', ' ', '//'])('matches any hook name where its path is %j', (path) => {
    const routes = tableOf(compileList([{ match: { path }, messageTemplate: 'x' }]));
    expect(routes.canTake('anything')).toBe(true);
    expect(routes.mappings[0]?.match.path).toBeUndefined();
  });

  test('takes a number as recipient, unless it has lost digits', () => {
    const [mapping] = tableOf(
      compileYaml('messageTemplate: x\nchannel: telegram\nto: -1001234567890'),
    ).mappings;
    expect(mapping?.to?.literal).toBe('-1001234567890');
    const { findings } = compileYaml('messageTemplate: x\nchannel: discord\nto: 1234567890123456789');
    expect(codesOf(findings)).toEqual(['INVALID_VALUE']);
  });

  test('shows all its findings at once, in the order of the file', () => {
    const { findings, table } = compileYaml(
      'id: 5\nmatch: {path: wake, when: {"is": 1}}\nmesageTemplate: x\nchannel: slak\ntimeoutSeconds: -1\nname: "{{a"',
    );
    expect(codesOf(findings)).toEqual([
      'WRONG_TYPE',
      'RESERVED_PATH',
      'CONDITION_UNKNOWN_OPERATOR',
      'UNKNOWN_KEY',
      'UNKNOWN_CHANNEL',
      'INVALID_VALUE',
      'TEMPLATE_SYNTAX',
    ]);
    expect(table).toBeUndefined();
  });

  test('may name what the configuration has, under any of its names', () => {
    const options = {
      channels: new Set(['matrix']),
      models: ['anthropic/claude'],
      aliases: { opus: 'anthropic/claude', mini: 'openai/mini' },
      runners: ['claude'],
    };
    const fine = { messageTemplate: 'x', runner: 'claude' };
    for (const more of [
      { channel: 'matrix' },
      { channel: ' LAST ' },
      { model: 'opus' },
      { model: 'anthropic/claude' },
      { model: ' ' },
    ]) {
      expect(codesOf(compileList([{ ...fine, ...more }], options).findings)).toEqual([]);
    }
    const wrong = compileList([{ messageTemplate: 'x', model: 'mini' }], options);
    expect(codesOf(wrong.findings)).toEqual(['MODEL_NOT_ALLOWED']);
    expect(codesOf(compileList([{ messageTemplate: 'x', model: 'opus' }], { models: [] }).findings)).toEqual([
      'MODEL_NOT_ALLOWED',
    ]);
  });

  test('may leave its callback to a reference, which only the running service can use', () => {
    const mapping = { messageTemplate: 'x', callbackUrl: '${CALLBACK}' };
    expect(tableOf(compileList([mapping])).mappings[0]?.callbackUrl).toBeUndefined();
    const env = { CALLBACK: 'https://example.com/secret' };
    const resolveReference = createReferenceReader({ env, directory: '/nowhere' }).read;
    // Stored with each run: the address behind it is read when it is called.
    expect(tableOf(compileList([mapping], { resolveReference })).mappings[0]?.callbackUrl).toBe(
      '${CALLBACK}',
    );
    const unset = compileList([mapping], {
      resolveReference: createReferenceReader({ env: {}, directory: '/nowhere' }).read,
    });
    expect(codesOf(unset.findings)).toEqual(['INVALID_CALLBACK_URL']);
    // Each callback reads it again: its file may come.
    const reader = createReferenceReader({ env, directory: '/nowhere' });
    for (let time = 0; time < 3; time += 1) expect(reader.read({ file: 'callback' })).toBeUndefined();
    expect(reader.files).toEqual(['/nowhere/callback']);
  });

  test.each([
    'ftp://example.com',
    'https:///x',
    'example.com',
    '/x',
    'javascript:alert(1)',
    'https://example.com/${KEY}',
  ])('cannot call back to %s', (callbackUrl) => {
    expect(codesOf(compileList([{ messageTemplate: 'x', callbackUrl }]).findings)).toEqual([
      'INVALID_CALLBACK_URL',
    ]);
  });
});

describe('several mappings', () => {
  const when = { '===': [{ var: 'a' }, 1] };
  const both = { and: [{ '===': [{ var: 'b' }, 2] }, { and: [when] }] };
  const wide = { messageTemplate: 'x', match: { path: 'p', when } };

  test.each<[string, object, object, boolean]>([
    ['the same match', wide, wide, true],
    ['a wider condition first', { messageTemplate: 'x', match: { path: 'p' } }, wide, true],
    ['a catch-all first', { messageTemplate: 'x' }, wide, true],
    ['a condition that always holds first', { messageTemplate: 'x', match: { when: true } }, wide, true],
    ['the same condition on any path first', { messageTemplate: 'x', match: { when } }, wide, true],
    ['a part of its condition first', wide, { messageTemplate: 'x', match: { path: 'p', when: both } }, true],
    ['a narrower condition first', { messageTemplate: 'x', match: { path: 'p', when: both } }, wide, false],
    ['a narrower source first', { messageTemplate: 'x', match: { path: 'p', source: 's' } }, wide, false],
    ['another path first', { messageTemplate: 'x', match: { path: 'q' } }, wide, false],
    ['a wider one that is off first', { enabled: false, messageTemplate: 'x' }, wide, false],
  ])('with %s: the second is out of reach is %s', (_, first, second, isUnreachable) => {
    const codes = codesOf(compileList([first, second]).findings);
    expect(codes.some((code) => code.startsWith('UNREACHABLE_MAPPING'))).toBe(isUnreachable);
  });

  test('transforms of enabled mappings are listed in order', () => {
    const { transforms } = compileList([
      { transform: 'b.ts', match: { path: 'b' } },
      { transform: 'off.ts', match: { path: 'c' }, enabled: false },
      { transform: { module: 'a.ts' }, match: { path: 'a' } },
    ]);
    expect(transforms.map(({ module }) => module)).toEqual(['b.ts', 'a.ts']);
  });
});

describe('mappings of an OpenClaw file', () => {
  test('run with keys that have no use here', () => {
    const { findings, table } = compileList(
      [
        {
          match: { path: 'gmail' },
          action: 'agent',
          agentId: 'main',
          messageTemplate: '{{messages[0].from}}',
        },
        {
          match: { path: 'other' },
          agentId: 'main',
          persist: 1,
          messageTemplate: 'x',
          textTemplate: 'unused',
        },
        { match: { path: 'other' }, messageTemplate: 'never' },
      ],
      {},
      OPENCLAW,
    );
    expect(codesOf(findings)).toEqual(['WRONG_TEMPLATE_KEY (warning)', 'UNREACHABLE_MAPPING (warning)']);
    expect(table?.mappings).toHaveLength(3);
  });

  test('have such keys refused in our own files', () => {
    expect(codesOf(compileList([{ messageTemplate: 'x', agentId: 'main' }]).findings)).toEqual([
      'UNKNOWN_KEY',
    ]);
  });
});

describe('mapping files', () => {
  let directory: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'sluice-mappings-'));
    const write = (name: string, text: string): Promise<void> => writeFile(join(directory, name), text);
    await write(
      'b.yaml',
      '- {id: b1, match: {path: b}, messageTemplate: x}\n- {id: b2, messageTemplate: x, match: {path: b2}}\n',
    );
    await write('a.json', '{"mappings": [{"id": "a", "match": {"path": "a"}, "messageTemplate": "x"}]}');
    await write('c.yml', 'id: c\nmatch: {path: c}\nmessageTemplate: x\n');
    await write('d.yaml', '# nothing yet\n');
    await write('.hidden.yaml', 'not: a mapping');
    await write('notes.txt', 'not a mapping');
    await mkdir(join(directory, 'presets'));
    await write('presets/no.yaml', 'not: a mapping');
  });
  afterAll(() => rm(directory, { recursive: true }));

  const load = (more: object = {}): Promise<LoadedMappings> =>
    loadMappings({ inline: [], mappingsDir: directory, presets: [], ...more });

  test('are read in name order, after inline mappings and before presets', async () => {
    const value = located({ id: 'inline', match: { path: 'i' }, messageTemplate: 'x' });
    const inline = [{ value, behaviours: {} }];
    const { table, findings, files } = await load({ inline, presets: ['gmail', 'mail'] });
    // A folder with mapping files is passed over, and said to be; hidden files are left alone.
    expect(codesOf(findings)).toEqual(['MAPPING_FILE_PASSED_OVER (warning)']);
    expect(table?.mappings.map(({ id }) => id)).toEqual([
      'inline',
      'a',
      'b1',
      'b2',
      'c',
      'preset-mail',
      'preset-gmail',
    ]);
    expect(files.map(({ path }) => path.split('/').at(-1))).toEqual([
      'a.json',
      'b.yaml',
      'c.yml',
      'd.yaml',
      'mail.yaml',
    ]);
  });

  test('are those that an editor has open, too, also where they are not written yet', async () => {
    const text = 'id: new\nmatch: {path: new}\nmessageTemplate: x\n';
    const texts = new Map([
      [join(directory, 'b0.yaml'), text],
      [join(directory, 'c.yml'), text.replaceAll('new', 'other')],
      [join(directory, 'presets/open.yaml'), 'not: a mapping'],
    ]);
    const { table } = await load({ open: { texts, parsed: new Map() } });
    expect(table?.mappings.map(({ id }) => id)).toEqual(['a', 'b1', 'b2', 'new', 'other'].toSorted());
  });

  test('may stand beside the own presets, under a relative name too', async () => {
    const mappingsDir = relative(process.cwd(), fileURLToPath(new URL('../../../mappings', import.meta.url)));
    const { findings } = await load({ mappingsDir });
    expect(codesOf(findings)).not.toContain('MAPPING_FILE_PASSED_OVER (warning)');
  });

  test('may be none', async () => {
    const { table, findings } = await load({ mappingsDir: join(directory, 'absent') });
    expect(findings).toEqual([]);
    expect(table?.mappings).toEqual([]);
  });

  test('that cannot be read leave no table', async () => {
    const broken = await mkdtemp(join(tmpdir(), 'sluice-broken-'));
    await writeFile(join(broken, 'a.yaml'), '- id: [\n');
    await writeFile(join(broken, 'b.yaml'), 'mappings: {}\nmore: 1\n');
    const { table, findings } = await load({ mappingsDir: broken });
    await rm(broken, { recursive: true });
    expect(table).toBeUndefined();
    expect(codesOf(findings)).toEqual(['YAML_SYNTAX', 'WRONG_TYPE', 'UNKNOWN_KEY']);
  });
});

describe('the preset mail', () => {
  const presets = (...names: string[]): Promise<LoadedMappings> =>
    loadMappings({ inline: [], mappingsDir: '/nowhere', presets: names });
  const item = {
    id: 'm1',
    from: 'Ann <a@example.com>',
    subject: 'Hi',
    snippet: 'Hello…',
    body: 'Hello there',
  };

  test('makes one action of each message, under a session key of its own', async () => {
    const { table } = await presets('mail');
    const mapping = table?.route(scopeOf({ messages: [item] }, { path: 'mail' }));
    const scope = scopeOf({ messages: [item] }, { path: 'mail' }, { item, index: 0 });
    expect(mapping).toMatchObject({ action: 'agent', wakeMode: 'now', forEach: { keys: ['messages'] } });
    expect(mapping?.name?.render(scope)).toBe('Mail');
    expect(mapping?.sessionKey?.render(scope)).toBe('hook:mail:m1');
    expect(mapping?.text?.render(scope)).toBe(
      'New email from Ann <a@example.com>\nSubject: Hi\nHello…\nHello there\n',
    );
    expect(table?.canTake('gmail')).toBe(false);
  });

  test('called gmail also answers on /gmail, as OpenClaw does', async () => {
    const { table } = await presets('gmail');
    const scope = scopeOf({ messages: [item] }, { path: 'gmail' }, { item, index: 0 });
    const mapping = table?.route(scope);
    expect(mapping?.id).toBe('preset-gmail');
    expect(mapping?.name?.render(scope)).toBe('Gmail');
    expect(mapping?.sessionKey?.render(scope)).toBe('hook:gmail:m1');
    expect(table?.canTake('mail')).toBe(true);
  });

  test("gives way to an operator's own mapping without a finding", async () => {
    const value = located({ id: 'own', match: { path: 'mail' }, messageTemplate: 'x' });
    const { table, findings } = await loadMappings({
      inline: [{ value, behaviours: OPENCLAW }],
      mappingsDir: '/nowhere',
      presets: ['mail'],
    });
    expect(findings).toEqual([]);
    expect(table?.route(scopeOf({}, { path: 'mail' }))?.id).toBe('own');
  });
});

describe('what is documented', () => {
  test('the JSON Schema knows every key of a mapping and describes it', () => {
    const text = JSON.stringify(mappingJsonSchema());
    for (const key of FULL.matchAll(/^(\w+):/gm)) expect(text).toContain(`"${key[1] ?? ''}":{`);
    expect(text).toContain('draft-07');
  });

  test('every template helper is documented', () => {
    const page = readPage('docs/mappings.md');
    const undocumented = Object.values(HELPERS).filter(({ usage }) => !page.includes(`\`${usage}\``));
    expect(undocumented).toEqual([]);
  });
});
