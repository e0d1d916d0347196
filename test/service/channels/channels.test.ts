import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { CHANNEL_IDS } from '../../../src/base/action.ts';
import {
  type ChannelAdapter,
  type ChannelModule,
  channelProblems,
  findChannelModule,
  loadChannelCatalog,
  openChannels,
  recipientProblem,
} from '../../../src/service/channels/channels.ts';
import { codeBlocks, readPage, sectionOf } from '../../support/docs.ts';
import { startPlatform } from '../../support/platform-server.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const PLUGIN = `
export default {
  id: 'pager',
  packages: ['left-beeper'],
  settingsProblems: (settings) => (settings.number ? [] : [{ key: 'number', message: 'is required' }]),
  recipientProblem: (to) => (/^[0-9]+$/.test(to) ? undefined : 'a pager recipient is a number'),
  open: async (settings) => {
    let stopped = false;
    return {
      id: 'pager',
      maxChars: 80,
      check: async () => ({ ok: true, account: settings.number + (stopped ? ' stopped' : '') }),
      send: async () => ({ kind: 'sent' }),
      stop: async () => { stopped = true; },
    };
  },
};
`;

function pluginFolder(files: Record<string, string>): string {
  const folder = temporaryFolder();
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

test('all channels of the contract are there', async () => {
  const catalog = await loadChannelCatalog([], '/');
  expect(catalog.problems).toEqual([]);
  expect([...catalog.modules.keys()].toSorted()).toEqual([...CHANNEL_IDS].toSorted());
  expect(findChannelModule(catalog, 'imsg')?.id).toBe('imessage');
  expect(findChannelModule(catalog, 'teams')?.id).toBe('msteams');
  expect(findChannelModule(catalog, 'last')).toBeUndefined();
});

test('a plugin of one file takes part like a built-in channel', async () => {
  const folder = pluginFolder({ 'pager.mjs': PLUGIN });
  const catalog = await loadChannelCatalog(['./pager.mjs'], folder);
  expect(catalog.problems).toEqual([]);
  expect(recipientProblem(catalog, 'pager', 'x')).toBe('a pager recipient is a number');
  const channels = openChannels(catalog, { pager: { number: '7', to: 12 } });
  const adapter = await channels.find('pager');
  expect(await adapter?.check(new AbortController().signal)).toEqual({ ok: true, account: '7' });
  expect(await channels.find('pager')).toBe(adapter);
  await channels.stop();
  expect(await adapter?.check(new AbortController().signal)).toEqual({ ok: true, account: '7 stopped' });
});

test('a plugin that is missing, broken, misshapen or taken is named with the reason', async () => {
  const folder = pluginFolder({
    'throws.mjs': 'throw new Error("no battery");',
    'empty.mjs': 'export const x = 1;',
    'noid.mjs': 'export default { settingsProblems() {}, recipientProblem() {}, open() {} };',
    'noopen.mjs': 'export default { id: "a", settingsProblems() {}, recipientProblem() {} };',
    'last.mjs': 'export default { id: "last" };',
    'taken.mjs': PLUGIN.replace("'pager'", "'slack'"),
  });
  const specs = [
    './nowhere.mjs',
    './throws.mjs',
    './empty.mjs',
    './noid.mjs',
    './noopen.mjs',
    './last.mjs',
    './taken.mjs',
    'no-such-package',
  ];
  const { problems } = await loadChannelCatalog(specs, folder);
  expect(problems.map(({ spec }) => spec)).toEqual(specs);
  const reasons = [
    /cannot be loaded/,
    /no battery/,
    /default export/,
    /"id" must be/,
    /"open" must be/,
    /reserved/,
    /exists already/,
    /cannot be loaded.*no-such-package/s,
  ];
  problems.forEach(({ message }, index) => expect(message).toMatch(reasons[index] ?? /never/));
});

test('problems of configured channels name channel, key and package', async () => {
  const folder = pluginFolder({ 'pager.mjs': PLUGIN });
  const catalog = await loadChannelCatalog(['./pager.mjs'], folder);
  expect(
    channelProblems(catalog, {
      telegram: {},
      slack: { botToken: 'xoxb-1', to: 'general', bottoken: 'x' },
      msteams: { appId: 'a', appPassword: 'b', tenantId: 'c', baseUrl: 'ftp://x' },
      pager: {},
      fax: { botToken: 'x' },
      signal: { account: 15550001111, to: 15551234567 },
    }),
  ).toEqual([
    { channel: 'telegram', key: 'botToken', message: 'is required' },
    {
      channel: 'slack',
      key: 'bottoken',
      message: expect.stringContaining('its settings are: baseUrl, to, botToken'),
      known: ['baseUrl', 'to', 'botToken'],
    },
    { channel: 'slack', key: 'to', message: expect.stringContaining('a Slack recipient is') },
    { channel: 'msteams', key: 'baseUrl', message: expect.stringContaining('http or https') },
    { channel: 'pager', key: 'number', message: 'is required' },
    {
      channel: 'pager',
      message: 'channel pager needs the package left-beeper: npm install left-beeper',
      lacksPackage: true,
    },
    { channel: 'fax', message: expect.stringMatching(/no channel "fax".*telegram/) },
  ]);
});

test('a value that is still a reference is not judged', async () => {
  const catalog = await loadChannelCatalog([], '/');
  expect(
    channelProblems(catalog, {
      telegram: { botToken: '{file: ./secrets/bot}', to: '${CHAT}', baseUrl: '${API}' },
      whatsapp: { accessToken: '${TOKEN}', phoneNumberId: '${NUMBER}', to: '+${PHONE}' },
      signal: { account: '${ACCOUNT}' },
    }),
  ).toEqual([]);
});

test('a plugin may be a package, also one that only exports to import', async () => {
  const folder = pluginFolder({});
  for (const [name, exports] of Object.entries({
    'pager-plain': './index.js',
    'pager-import': { '.': { import: './index.js' } },
  })) {
    const home = join(folder, 'node_modules', name);
    mkdirSync(home, { recursive: true });
    writeFileSync(
      join(home, 'package.json'),
      JSON.stringify({ name, version: '1.0.0', type: 'module', exports }),
    );
    writeFileSync(join(home, 'index.js'), PLUGIN.replace("'pager'", `'${name}'`));
  }
  const catalog = await loadChannelCatalog(['pager-plain', 'pager-import'], folder);
  expect(catalog.problems).toEqual([]);
  expect(catalog.modules.has('pager-plain') && catalog.modules.has('pager-import')).toBe(true);
});

test('a recipient is judged without loading an SDK', async () => {
  const catalog = await loadChannelCatalog([], '/');
  for (const [channel, good, bad] of [
    ['whatsapp', '+15551234567', 'bob'],
    ['telegram', '-1001234567890', '#general'],
    ['discord', '123456789012345678', 'general'],
    ['slack', 'C0123456', 'general'],
    ['signal', '+15551234567', '@bob'],
    ['imessage', 'bob@example.org', 'bob'],
    ['msteams', '19:abc@thread.v2', 'General'],
    ['mattermost', 'ep5ioqf7jfyxzfwjk1cwgnjgqa', 'town-square'],
  ] as const) {
    expect(recipientProblem(catalog, channel, good)).toBeUndefined();
    expect(recipientProblem(catalog, channel, bad)).toMatch(/recipient is/);
  }
  expect(recipientProblem(catalog, 'last', 'anything')).toBeUndefined();
  expect(recipientProblem(catalog, 'fax', 'anything')).toBeUndefined();
});

test('a channel that is not configured has no adapter; one that cannot be opened says what to mend', async () => {
  const catalog = await loadChannelCatalog([], '/');
  const channels = openChannels(catalog, { telegram: { botToken: 'a b' }, imessage: { cliPath: 'imsg' } });
  expect(channels.ids).toEqual(['telegram', 'imessage']);
  expect(await channels.find('slack')).toBeUndefined();
  expect(await channels.find('constructor')).toBeUndefined();
  await expect(channels.find('telegram')).rejects.toThrow(
    /channels\.telegram\.botToken: must not contain white space/,
  );
  expect((await channels.find('imsg'))?.id).toBe('imessage');
});

const PAGE = readPage('docs/channels.md');

const BROKEN = (open: string): string => `export default {
  id: 'broken',
  settingsProblems: ({ quiet }) => { if (quiet) return []; throw new TypeError('of the token s3cret'); },
  recipientProblem: () => { throw new Error('s3cret'); },
  open: async () => (${open}),
};`;

test('a plugin that throws while it judges is a finding, not the end of the check', async () => {
  const catalog = await loadChannelCatalog(
    ['./broken.mjs'],
    pluginFolder({ 'broken.mjs': BROKEN('undefined') }),
  );
  expect(channelProblems(catalog, { broken: {} })).toEqual([
    { channel: 'broken', message: 'the module of the channel failed on its settings (TypeError)' },
  ]);
  expect(channelProblems(catalog, { broken: { quiet: true, to: 7 } })).toEqual([
    { channel: 'broken', key: 'to', message: 'the module of the channel failed on it (Error)' },
  ]);
  expect(recipientProblem(catalog, 'broken', 'x')).toBe('the module of the channel failed on it (Error)');
});

test.each([
  ['undefined', 'its "open" gave no adapter in time'],
  ['{ maxChars: 0, check() {}, send() {} }', 'the "maxChars" of its adapter must be a whole number above 0'],
  ['{ check() {}, send() {} }', 'the "maxChars" of its adapter must be a whole number above 0'],
  ['{ maxChars: 5, check() {} }', 'its adapter must have the functions "check" and "send"'],
])('a plugin that opens as %s is not used', async (open, problem) => {
  const catalog = await loadChannelCatalog(['./broken.mjs'], pluginFolder({ 'broken.mjs': BROKEN(open) }));
  const channels = openChannels(catalog, { broken: { quiet: true } });
  await expect(channels.find('broken')).rejects.toThrow(`channel broken: ${problem}`);
  await channels.stop();
});

test.each(['', 'async '])('a plugin that throws in its %sopening is opened again', async (how) => {
  const open = `${how}() => { if (tries++ === 0) throw new Error('no line'); return ADAPTER; }`;
  const text = `let tries = 0; const ADAPTER = { maxChars: 5, check() {}, send() {} };
${BROKEN('0').replace('async () => (0)', open)}`;
  const catalog = await loadChannelCatalog(['./broken.mjs'], pluginFolder({ 'broken.mjs': text }));
  const channels = openChannels(catalog, { broken: { quiet: true } });
  await expect(channels.find('broken')).rejects.toThrow('no line');
  expect(await channels.find('broken')).toMatchObject({ maxChars: 5 });
});

test('an adapter that opens too late is stopped, and the next message opens another one', async () => {
  const stopped: string[] = [];
  const late = Promise.withResolvers<void>();
  const adapterOf = (id: string): ChannelAdapter => ({
    id,
    maxChars: 5,
    check: async () => ({ ok: true, account: id }),
    send: async () => ({ kind: 'sent' }),
    stop: async () => void stopped.push(id),
  });
  const adapters = [late.promise.then(() => adapterOf('late')), Promise.resolve(adapterOf('next'))];
  const module: ChannelModule = {
    id: 'slow',
    settingsProblems: () => [],
    recipientProblem: () => undefined,
    open: async () => adapters.shift() ?? adapterOf('none'),
  };
  const catalog = { modules: new Map([['slow', module]]), origins: new Map(), problems: [] };
  const channels = openChannels(catalog, { slow: {} }, { openTimeoutMs: 20 });
  await expect(channels.find('slow')).rejects.toThrow('its "open" gave no adapter in time');
  expect((await channels.find('slow'))?.id).toBe('next');
  late.resolve();
  await expect.poll(() => stopped).toEqual(['late']);
  await channels.stop();
  expect(stopped).toEqual(['late', 'next']);
});

test('the default recipient of a plugin is judged as that of a built-in channel is', async () => {
  const catalog = await loadChannelCatalog(['./pager.mjs'], pluginFolder({ 'pager.mjs': PLUGIN }));
  const found = channelProblems(catalog, { pager: { number: '7', to: 'abc' } });
  expect(found[0]).toEqual({ channel: 'pager', key: 'to', message: 'a pager recipient is a number' });
});

test('the documented table of channels states ids, packages and limits as they are', async () => {
  const catalog = await loadChannelCatalog([], '/');
  const table = PAGE.slice(0, PAGE.indexOf('\n## '));
  const rows = [...table.matchAll(/^\| `(\w+)`.*$/gm)].map(([row]) =>
    row.split('|').map((cell) => cell.trim()),
  );
  const settings: Record<string, Record<string, string>> = {
    whatsapp: { accessToken: 'x', phoneNumberId: '12345' },
    signal: { account: '+15551234567' },
    imessage: { cliPath: 'imsg' },
    msteams: { appId: 'a', appPassword: 'b', tenantId: 'c' },
    mattermost: { botToken: 'x', baseUrl: 'http://127.0.0.1:1' },
    github: { token: 'x' },
    gitlab: { token: 'x' },
    email: { host: 'smtp.example.org', from: 'agent@example.org' },
  };
  expect(new Set(rows.map(([, id]) => id?.replaceAll('`', '')))).toEqual(new Set(catalog.modules.keys()));
  for (const [, id = '', , recipients, limit, packages] of rows) {
    const module = findChannelModule(catalog, id.replaceAll('`', ''));
    const smallest = settings[module?.id ?? ''] ?? { botToken: 'x' };
    expect(module?.settingsProblems(smallest), `"settings" of this test lack ${id}`).toEqual([]);
    const adapter = await module?.open(smallest);
    expect([module?.id, String(adapter?.maxChars)]).toEqual([module?.id, limit]);
    expect([module?.id, packages]).toEqual([
      module?.id,
      (module?.packages ?? []).map((name) => `\`${name}\``).join(', '),
    ]);
    const literals = [...(recipients ?? '').matchAll(/`([^`]+)`/g)].map(([, to = '']) => to);
    for (const to of literals.filter((text) => !/[…<]|^:/.test(text))) {
      expect(module?.recipientProblem(to)).toBeUndefined();
    }
    await adapter?.stop?.();
  }
});

test('the documented plugin works', async () => {
  const [{ text: code } = { text: '' }] = codeBlocks(sectionOf(PAGE, '## A channel of your own'));
  const folder = pluginFolder({ 'ntfy.mjs': code });
  const catalog = await loadChannelCatalog(['./ntfy.mjs'], folder);
  expect(catalog.problems).toEqual([]);
  expect(channelProblems(catalog, { ntfy: {} })).toMatchObject([{ channel: 'ntfy', key: 'baseUrl' }]);
  const statuses = [200, 429, 403];
  const platform = await startPlatform((request) =>
    request.path === '/v1/account'
      ? { status: 200, body: { username: 'phil' } }
      : { status: statuses.shift() ?? 200, body: { id: 'm1' } },
  );
  onTestFinished(platform.stop);
  const adapter = await openChannels(catalog, { ntfy: { baseUrl: platform.url, token: 't' } }).find('ntfy');
  const never = new AbortController().signal;
  expect(await adapter?.check(never)).toEqual({ ok: true, account: 'phil' });
  const send = async () => adapter?.send({ to: 'alerts', text: 'hi', plain: false, key: 'k' }, never);
  expect(await send()).toEqual({ kind: 'sent', messageId: 'm1' });
  expect(await send()).toMatchObject({ kind: 'retry' });
  expect(await send()).toMatchObject({ kind: 'failed' });
  expect(platform.requests[1]).toMatchObject({
    path: '/alerts',
    text: 'hi',
    headers: { authorization: 'Bearer t' },
  });
});
