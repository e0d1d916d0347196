/** Commands for people who write mappings: check, explain, test --watch, diff, replay of a file. */
import { execFileSync } from 'node:child_process';
import { renameSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Bench, openBench, waitFor } from '../../support/cli-service.ts';
import { cli } from '../../support/cli-terminal.ts';
import { listIn } from '../../support/output-check.ts';

const CONFIG = `
hooks:
  enabled: true
  token: \${SLUICE_HOOK_TOKEN}
`;
const MAPPINGS = `
- id: paid
  match: {path: shop, when: {and: [{"===": [{var: kind}, order]}, {">": [{var: total}, 100]}]}}
  name: Shop
  messageTemplate: "Order {{id}} over {{total}}"
- id: refund
  match: {path: shop, when: {"===": [{var: kind}, refund]}}
  action: wake
  textTemplate: "Refund {{id}}"
`;
const PAID = 'path: shop\nbody: {kind: order, total: 120, id: 7}\n';
const MISSED = 'path: shop\nbody: {kind: order, total: 20, id: 8}\n';

const open = (files: Readonly<Record<string, string>> = {}): Bench =>
  openBench({
    'sluice.yaml': CONFIG,
    'mappings/shop.yaml': MAPPINGS,
    'test/golden/shop/paid.request.yaml': PAID,
    ...files,
  });
describe('check', () => {
  test('finds nothing wrong, and with --strict also fails for a warning', async () => {
    const bench = open();
    const fine = await bench.run(['check']);
    expect(fine).toMatchObject({ exitCode: 0, err: '' });
    // A choice that may be meant is told at the end, and is a warning for who wants none.
    expect(fine.out).toMatch(
      /^no findings: 2 mappings, .*\n(?:.*\n)*runs are answered by echo, .* \(.*\); for an agent set .*\n$/,
    );
    const strict = await bench.run(['check', '--strict']);
    expect(strict).toMatchObject({ exitCode: 1 });
    expect(strict.out).toMatch(/^warning ECHO_RUNNER.*\n {2}at .*\n {2}hint: .*\n\n1 warning\n/);
    bench.put('sluice.yaml', `${CONFIG}gateway: {runner: {kind: command, argv: [/bin/cat], cwd: private}}\n`);
    const silent = await bench.run(['check', '--strict']);
    expect(silent.exitCode).toBe(0);
    expect(silent.out).toMatch(
      /^no findings: 2 mappings, 0 transform modules\nrequests that serve keeps: .*\nwithout a sample, and so not checked with one: refund\n$/,
    );
  });

  test('finds a configuration of another name', async () => {
    const bench = open({ 'sluice.yaml': CONFIG });
    renameSync(join(bench.folder, 'sluice.yaml'), join(bench.folder, 'sluice.yml'));
    expect((await bench.run(['check'])).err).toMatch(/there is sluice\.yml: rename it/);
  });

  test('notes what a failover of PostgreSQL may cost: to people only, and as no finding', async () => {
    const runner = '{kind: command, argv: [/bin/cat], cwd: private}';
    const bench = open({
      'sluice.yaml': `${CONFIG}gateway: {runner: ${runner}}\nstorage: {url: "\${DATABASE_URL}"}\n`,
    });
    const env = { DATABASE_URL: 'postgres://sluice:hidden@database/sluice' };
    const { out, exitCode } = await bench.run(['check', '--strict'], { env });
    expect(exitCode).toBe(0);
    expect(out).toMatch(/^no findings.*\n.*may be lost with the primary, unless synchronous_standby_names/);
    expect(out).not.toContain('hidden');
    expect(await bench.run(['check', '--json', '--strict'], { env })).toMatchObject({
      exitCode: 0,
      out: '{"version":1,"command":"check","findings":[],"ignored":[]}\n',
    });
  });

  test('prints every error at its place, in each form', async () => {
    const bench = open({
      'mappings/shop.yaml': MAPPINGS.replace('textTemplate', 'txtTemplate').replace('var: id', 'x'),
    });
    const pretty = await bench.run(['check']);
    expect(pretty.exitCode).toBe(1);
    expect(pretty.out).toMatch(/UNKNOWN_KEY[^]*mappings\/shop\.yaml:9:3/);
    // What may be meant is left out while there are mistakes.
    expect(pretty.out).not.toContain('ECHO_RUNNER');
    const json = await bench.run(['check', '--format', 'json']);
    expect(json.exitCode).toBe(1);
    expect(listIn(json.out)).toContainEqual(
      expect.objectContaining({ code: 'UNKNOWN_KEY', severity: 'error' }),
    );
    expect((await bench.run(['check', '--format', 'github'])).out).toMatch(
      /^::error file=.*mappings\/shop\.yaml,line=9/m,
    );
    expect(JSON.parse((await bench.run(['check', '--format', 'sarif'])).out)).toMatchObject({
      version: '2.1.0',
    });
    for (const command of [['explain', 'test/golden/shop/paid.request.yaml'], ['test']]) {
      const result = await bench.run(command);
      expect(result).toMatchObject({ exitCode: 1, out: '' });
      expect(result.err).toContain('UNKNOWN_KEY');
    }
  });

  test('says which file is missing', async () => {
    const bench = openBench();
    const none = await bench.run(['check']);
    expect(none).toMatchObject({ exitCode: 2, out: '' });
    expect(none.err).toContain('-c FILE');
    expect((await bench.run(['check', '-c', 'other.yaml'])).exitCode).toBe(1);
  });
});

describe('explain FILE', () => {
  test('shows what a request becomes, with the prompt', async () => {
    const result = await open().run(['explain', 'test/golden/shop/paid.request.yaml']);
    expect(result).toMatchObject({ exitCode: 0, err: '' });
    expect(result.out).toMatch(/mapping paid {2}\S*mappings\/shop\.yaml:2:3/);
    expect(result.out).toContain('Order 7 over 120');
  });

  test('shows the nearest miss first, with what was found and expected and where', async () => {
    const bench = open({ 'missed.request.yaml': MISSED });
    const { out: brief } = await bench.run(['explain', 'missed.request.yaml']);
    expect(brief).toMatch(/✗ paid: [^]*\nmore: the same with --all\n$/);
    expect(brief).not.toContain('✗ refund');
    const result = await bench.run(['explain', 'missed.request.yaml', '--all']);
    expect(result.exitCode).toBe(1);
    expect(result.out).toContain('404 no_mapping_matched');
    expect(result.out.indexOf('✗ paid')).toBeLessThan(result.out.indexOf('✗ refund'));
    expect(result.out).toMatch(/✗ paid[^]*total[^]*20[^]*mappings\/shop\.yaml:3:\d+[^]*✗ refund/);
    const json = listIn((await bench.run(['explain', 'missed.request.yaml', '--json'])).out)[0];
    expect(json).toMatchObject({
      outcome: 'rejected',
      request: { path: 'shop', headers: {}, receivedAt: expect.any(String) as string },
      advice: { nearNames: [], instead: [], elsewhere: [], notes: [], alsoMatched: [], passedOver: [] },
    });
  });

  test('prints the condition as a tree with its values, and what each expression of a template became', async () => {
    const bench = open({
      'mappings/tree.yaml': `- id: tree
  match:
    path: tree
    when: { and: [{ '===': [{ var: kind }, a] }, { or: [{ '>': [{ var: n }, 9] }, { '!': [{ var: off }] }] }] }
  messageTemplate: '{{kind}}{{#each list}} {{this}}{{/each}}{{gone}}'
`,
      'tree.yaml': 'path: tree\nbody: {kind: a, n: 3, list: [x, y]}\n',
    });
    const json = listIn((await bench.run(['explain', 'tree.yaml', '--json'])).out)[0];
    expect(json).toMatchObject({
      considered: expect.arrayContaining([
        expect.objectContaining({
          id: 'tree',
          condition: expect.objectContaining({
            result: 'true',
            children: [
              expect.objectContaining({ found: 'a', expected: 'a', children: [] }),
              expect.objectContaining({
                children: [
                  expect.objectContaining({ result: 'false', found: 3, expected: 9 }),
                  expect.objectContaining({
                    result: 'true',
                    children: [expect.objectContaining({ missing: 'off' })],
                  }),
                ],
              }),
            ],
          }) as object,
        }),
      ]) as object,
      templates: [
        {
          field: 'messageTemplate',
          text: 'a x y',
          pieces: [
            { expression: 'kind', text: 'a' },
            { expression: 'this', text: 'x' },
            { expression: 'this', text: 'y' },
            { expression: 'gone', text: '' },
          ],
        },
      ],
    });
  });

  test('explains several deliveries in order, as a list with --json', async () => {
    const bench = open({
      'two.yaml': `deliveries:\n  - {path: wake, body: {text: a}}\n  - {path: wake, body: {}}\n`,
    });
    const json = listIn((await bench.run(['explain', 'two.yaml', '--json'])).out);
    expect(json).toEqual([
      expect.objectContaining({ outcome: 'accepted' }),
      expect.objectContaining({ outcome: 'rejected' }),
    ]);
    const replayed = await bench.run(['replay', 'two.yaml', '--json']);
    expect(listIn(replayed.out)).toEqual(json);
    expect(replayed.exitCode).toBe(1);
  });

  test('says what is wrong with a request file', async () => {
    const bench = open({ 'bad.yaml': 'path: shop\nbdoy: {}\n' });
    const bad = await bench.run(['explain', 'bad.yaml']);
    expect(bad).toMatchObject({ exitCode: 1, out: '' });
    expect(bad.err).toMatch(/UNKNOWN_KEY[^]*bad\.yaml:2:1/);
    expect((await bench.run(['explain', 'nowhere.yaml'])).err).toContain('there is no file nowhere.yaml');
  });
});

describe('test', () => {
  test('finds the cases beside the configuration from any folder', async () => {
    const bench = open({ 'elsewhere/note.txt': '' });
    const at = { cwd: join(bench.folder, 'elsewhere') };
    const config = ['-c', '../sluice.yaml'];
    expect((await cli(['test', ...config], at)).out).toContain('shop/paid  written');
    expect((await cli(['diff', '..', ...config], at)).out).toContain('0 of 1 recorded requests');
    expect((await cli(['test', ...config, '--dir', 'here'], at)).err).toMatch(/no golden cases in \S*here/);
  });

  test('--watch runs what a changed mapping, body file, request or expectation affects', async () => {
    const bench = open({
      'test/golden/shop/file.request.yaml': 'path: shop\nbodyFile: payloads/refund.json\n',
      'test/golden/shop/payloads/refund.json': '{"kind": "refund", "id": 1}',
    });
    await bench.run(['test']);
    const printed: string[] = [];
    const seen = (text: string): Promise<true> =>
      waitFor(() => (printed.join('\n').includes(text) ? true : undefined));
    let interrupt: (() => void) | undefined;
    const watching = bench.run(['test', '--watch'], {
      interrupt: new Promise((done) => (interrupt = done)),
      onPrint: (text) => printed.push(text),
    });
    await seen('watching for changes');

    printed.length = 0;
    bench.put('test/golden/shop/payloads/refund.json', '{"kind": "refund", "id": 2}');
    await seen('golden cases: 0 passed, 1 failed');
    expect(printed.join('\n')).toMatch(/changed: .*refund\.json[^]*\+ +text: Refund 2/);

    printed.length = 0;
    bench.put('mappings/shop.yaml', MAPPINGS.replace('Refund {{id}}', 'Refund {{id'));
    await seen('TEMPLATE_SYNTAX');
    printed.length = 0;
    bench.put('mappings/shop.yaml', MAPPINGS.replace('Refund {{id}}', 'Refund 1'));
    await seen('golden cases: 2 passed, 0 failed');
    expect(printed.join('\n')).not.toContain('✓');

    printed.length = 0;
    bench.put('test/golden/shop/new.request.yaml', MISSED);
    await seen('shop/new  written');
    printed.length = 0;
    renameSync(
      join(bench.folder, 'test/golden/shop/new.request.yaml'),
      join(bench.folder, 'test/golden/shop/old.request.yaml'),
    );
    await seen('OBSOLETE_EXPECTATION');
    interrupt?.();
    expect(await watching).toMatchObject({ exitCode: 1 });
  });
});

describe('diff', () => {
  const changed = MAPPINGS.replace('100', '10');
  const git = (bench: Bench, ...args: string[]): string =>
    execFileSync(
      'git',
      ['-C', bench.folder, '-c', 'user.name=t', '-c', 'user.email=t@example.com', ...args],
      {
        encoding: 'utf8',
      },
    );

  test('lists what a revision treats differently, and leaves the repository alone', async () => {
    const bench = open({ 'test/golden/shop/missed.request.yaml': MISSED });
    git(bench, 'init', '-q', '-b', 'main');
    git(bench, 'add', '-A');
    git(bench, 'commit', '-qm', 'first');
    bench.put('mappings/shop.yaml', changed);
    const before = git(bench, 'status', '--porcelain');
    const result = await bench.run(['diff', 'main']);
    expect(result).toMatchObject({ exitCode: 0, err: '' });
    expect(result.out).toMatch(/~ shop\/missed\n[^]*- code: no_mapping_matched[^]*\+ mapping: paid/);
    expect(result.out).toContain('1 of 2 recorded requests change outcome');
    expect(result.out).not.toContain('~ shop/paid');
    expect(git(bench, 'status', '--porcelain')).toBe(before);
    expect(await bench.run(['diff', 'HEAD', '--exit-code'])).toMatchObject({ exitCode: 1 });
    const json = JSON.parse((await bench.run(['diff', 'main', '--json'])).out) as object;
    expect(json).toMatchObject({ compared: 2, changes: [{ name: 'shop/missed' }] });
    git(bench, 'commit', '-qam', 'second');
    expect((await bench.run(['diff', 'HEAD~1', '--exit-code'])).exitCode).toBe(1);
    expect((await bench.run(['diff', 'HEAD', '--exit-code'])).exitCode).toBe(0);
  });

  test('compares with a folder, and says what is wrong with the base', async () => {
    const bench = open({ 'base/sluice.yaml': CONFIG, 'base/mappings/shop.yaml': changed });
    bench.put('recorded/missed.request.yaml', MISSED);
    const result = await bench.run(['diff', 'base', '--corpus', 'recorded']);
    expect(result.out).toContain('1 of 1 recorded requests change outcome');
    bench.put('base/mappings/shop.yaml', '- {id: x, match: {path: y}, msg: z}\n');
    const broken = await bench.run(['diff', 'base']);
    expect(broken).toMatchObject({ exitCode: 1, out: '' });
    expect(broken.err).toMatch(/UNKNOWN_KEY[^]*the base base has errors/);
    expect((await bench.run(['diff', 'mappings'])).err).toContain('holds no sluice.yaml');
    expect((await bench.run(['diff', 'no-such-revision'])).err).toContain('no-such-revision');
    expect((await bench.run(['diff', 'base', '--corpus', 'nowhere'])).err).toContain(
      'no recorded requests in nowhere',
    );
    expect(await bench.run(['diff'])).toMatchObject({ exitCode: 2 });
  });
});

test('check finds what is wrong in mappings and transforms where the configuration has errors, too', async () => {
  const bench = openBench({
    'sluice.yaml': 'hooks: {tokn: x, mappings: [{id: inline, match: {path: i}, nme: x}]}\n',
    'mappings/a.yaml': "- {id: a, match: {path: a}, messageTemplate: '{{uper x}}', channel: from-a-plugin}\n",
    'mappings/b.json': '[{"id": "b", "match": {"path": "wake"}, "messageTemplate": "x"}]',
    'mappings/c.yaml': '- {id: c, match: {path: c}, transform: broken.ts}\n',
    'transforms/broken.ts': 'export default (x: number => 3\n',
  });
  const { exitCode, out } = await bench.run(['check', '--format', 'json']);
  expect(exitCode).toBe(1);
  const errors = listIn<{ severity: string; code: string; file: string }>(out).filter(
    ({ severity }) => severity === 'error',
  );
  expect(errors.map(({ code, file }) => `${relative(bench.folder, file)} ${code}`).toSorted()).toEqual([
    'mappings/a.yaml TEMPLATE_UNKNOWN_HELPER',
    'mappings/b.json RESERVED_PATH',
    'sluice.yaml UNKNOWN_KEY',
    'sluice.yaml UNKNOWN_KEY',
    'transforms/broken.ts TRANSFORM_SYNTAX',
  ]);
});
