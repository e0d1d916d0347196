import { existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { cli } from '../../support/cli-terminal.ts';

const CONFIG = `
hooks:
  enabled: true
  mappings:
    - id: push
      match: {path: github, when: {"===": [{var: ref}, refs/heads/main]}}
      name: GitHub
      sessionKey: "hook:{{repo}}"
      instructions: Summarise it.
      messageTemplate: |
        {{#if by}}{{by}} pushed{{/if}} to {{repo}}
        {{title}}
    - id: once
      match: {path: once}
      action: wake
      textTemplate: "{{text}}"
      dedupe: {key: "{{id}}"}
`;
const REQUEST = `
path: github
body: {ref: refs/heads/main, repo: acme/shop, by: ada, title: Fix it}
`;

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-golden-test-'));
  await put('sluice.yaml', CONFIG);
  await put('test/golden/github/push.request.yaml', REQUEST);
});

afterEach(() => rm(folder, { recursive: true, force: true }));

async function put(file: string, text: string): Promise<void> {
  await mkdir(dirname(join(folder, file)), { recursive: true });
  await writeFile(join(folder, file), text);
}

const run = (args: readonly string[], env: NodeJS.ProcessEnv = {}) =>
  cli(['test', '-c', join(folder, 'sluice.yaml'), ...args], { cwd: folder, env });
const expectation = (): string => readFileSync(join(folder, 'test/golden/github/push.expected.yaml'), 'utf8');

test('nothing that was recorded is a command where the runner of GitHub reads what is printed', async () => {
  const lines = [
    '::add-mask::a',
    '::error::b',
    '  ::warning::c',
    '\t::debug::d',
    '##[add-mask]e',
    ' x ##[error]f',
  ];
  const title = ['', ...lines, '\r::add-mask::g', '\u2028::error::h'].join('\n');
  const asJson = JSON.stringify({ ref: 'refs/heads/main', repo: '::error::r', by: title, title });
  await put('test/golden/github/push.request.yaml', `path: github\nbody: ${asJson}\n`);
  await put('test/golden/github/::error::.request.yaml', `path: github\nbody: ${asJson}\n`);
  await put('test/golden/github/push.expected.yaml', 'format: 1\n::error::x: 1\n');
  const isCommand = (line: string): boolean => /^[\s\u0085]*::/.test(line) || line.includes('##[');
  const env = { CI: 'true', GITHUB_ACTIONS: 'true' };
  const file = 'test/golden/github/push.request.yaml';
  for (const args of [
    ...['pretty', 'junit', 'json', 'github'].map((name) => ['test', '--reporter', name]),
    ['explain', file],
    ['explain', file, '--json'],
    ['replay', file],
    ['no-such\n::error::command'],
  ]) {
    const { out, err } = await cli(args, { cwd: folder, env });
    const printed = `${out}${err}`.split(/[\n\r\u2028]/).filter(isCommand);
    const own = args.includes('github') ? printed.filter((line) => line.startsWith('::error file=')) : [];
    expect(printed, args.join(' ')).toEqual(own);
    if (args.includes('github')) expect(own).toHaveLength(2);
  }
});

describe('update rules', () => {
  test('a new case is written and reported, and passes from then on', async () => {
    const first = await run([]);
    expect(first).toMatchObject({ exitCode: 0 });
    expect(first.out).toContain('github/push  written');
    expect(expectation()).toContain('mapping: push');
    expect(expectation()).toMatch(/^format: 1\n/m);
    expect(expectation()).toContain('    instructions: Summarise it.\n    boundary: v1\n    message: |-\n');
    expect((await run([])).out).toMatch(/1 passed, 0 failed \(/);
  });

  test('a new case that records an error of this side is marked, and findings of one file count once', async () => {
    await put('sluice.yaml', CONFIG.replace('sessionKey: "hook:{{repo}}"', 'transform: {module: bad.ts}'));
    await put('transforms/bad.ts', 'export default () => { throw new Error("no shop"); };\n');
    await put('test/golden/github/broken.request.yaml', 'path: github\nboddy: 1\nqery: {}\n');
    const result = await run([]);
    expect(result.out).toMatch(/^! github\/push {2}written, but it records the error 500 transform_failed/m);
    expect(result.out).not.toContain('✓');
    expect(result.out).toMatch(/1 passed \(1 written\), 1 failed/);
  });

  test('in CI a missing expectation fails and nothing is written', async () => {
    const result = await run([], { CI: 'true' });
    expect(result.exitCode).toBe(1);
    expect(result.out).toContain('github/push  missing');
    expect(existsSync(join(folder, 'test/golden/github/push.expected.yaml'))).toBe(false);
  });

  test.each(['false', '0', ''])('CI=%j counts as not set', async (value) => {
    expect((await run([], { CI: value })).out).toContain('written');
  });

  test('a mismatch fails with the difference and the trace, and is not rewritten', async () => {
    await run([]);
    const before = expectation();
    await put('test/golden/github/push.request.yaml', REQUEST.replace('ada', 'bob'));
    const result = await run([]);
    expect(result.exitCode).toBe(1);
    expect(result.out).toMatch(/-\s+ada pushed to acme\/shop/);
    expect(result.out).toMatch(/\+\s+bob pushed to acme\/shop/);
    // The prompt stands in the difference and not a second time in the trace.
    expect(result.out.match(/bob pushed/g)).toHaveLength(1);
    expect(result.out).toContain('sluice.yaml:5');
    expect(expectation()).toBe(before);
  });

  test('a miss names the failing conjunct with what it found and where it stands', async () => {
    await run([]);
    await put('test/golden/github/push.request.yaml', REQUEST.replace('heads/main', 'heads/dev'));
    const result = await run([]);
    expect(result.out).toContain('refs/heads/dev');
    expect(result.out).toMatch(/sluice\.yaml:6:\d+/);
  });

  test('a request file with the path of the address is told the hook name', async () => {
    await run([]);
    await put('test/golden/github/push.request.yaml', REQUEST.replace('path: github', 'path: /hooks/github'));
    const { out } = await run([]);
    expect(out).toMatch(/did you mean path: github\?.*test\/golden\/github\/push\.request\.yaml:2:7/);
    expect(out).not.toContain('--update');
  });

  test('a new case that records a refusal is marked, with the hook name that was meant', async () => {
    await put('test/golden/github/push.request.yaml', REQUEST.replace('path: github', 'path: /hooks/github'));
    const { out } = await run([]);
    expect(out).toMatch(
      /^! github\/push {2}written, but it records the refusal 404 .*\n {2}hint: .* path: github\?/m,
    );
  });

  test('a miss is told the field that was meant', async () => {
    await run([]);
    await put('test/golden/github/push.request.yaml', REQUEST.replace('ref:', 'reff:'));
    expect((await run([])).out).toMatch(/ref is missing.*\n\s+hint: write .*\n.*"reff"/);
  });

  test.each([
    ['url: http://localhost:8787/hooks/github\nbody: {}', 'add "path" to the document: hook name'],
    ['path: github\nmethod: POST', 'remove it; the keys here are: path'],
    ['path: github\nexpected: {outcome: accepted}', 'remove it; the keys here are: path'],
    ['path: github\nnow: 2026-01-31', 'correct it; now: time of receipt'],
    ['path: github\nbodyFile: test/golden/github/body.json', 'correct the path, which is relative to the'],
    ['- path: github', 'write keys with values, indented below it or in { }; its keys are: path, headers'],
    ['request:\n  path: github\n  body: {}', 'path: NAME (the hook name), headers, and body'],
  ])('the request file %j is told what to write', async (text, hint) => {
    await put('test/golden/github/body.json', '{}');
    await put('test/golden/github/push.request.yaml', `${text}\n`);
    expect((await run([])).out).toContain(hint);
  });

  test('--update rewrites expectations and never a request', async () => {
    await run([]);
    const changed = REQUEST.replace('ada', 'bob');
    await put('test/golden/github/push.request.yaml', changed);
    const result = await run(['--update']);
    expect(result).toMatchObject({ exitCode: 0 });
    expect(result.out).toContain('github/push  updated');
    expect(expectation()).toContain('bob pushed');
    expect(await readFile(join(folder, 'test/golden/github/push.request.yaml'), 'utf8')).toBe(changed);
  });

  test('--update is refused where CI is set', async () => {
    expect(await run(['--update'], { CI: '1' })).toMatchObject({ exitCode: 2 });
  });

  test('an obsolete expectation fails, and --update removes it', async () => {
    await run([]);
    await put('test/golden/github/gone.expected.yaml', 'outcome: accepted\n');
    const result = await run([]);
    expect(result.exitCode).toBe(1);
    expect(result.out).toContain('OBSOLETE_EXPECTATION');
    expect(await run(['--update'])).toMatchObject({ exitCode: 0 });
    expect(existsSync(join(folder, 'test/golden/github/gone.expected.yaml'))).toBe(false);
  });
});

describe('every way a case can be broken fails', () => {
  test.each([
    ['an unknown key', 'push', `${REQUEST}bdoy: {}\n`, 'UNKNOWN_KEY'],
    ['a missing path', 'push', 'body: {}\n', 'MISSING_KEY'],
    ['a body of two kinds', 'push', `${REQUEST}bodyFile: x.json\n`, 'TWO_BODIES'],
    ['a missing bodyFile', 'push', 'path: github\nbodyFile: nowhere.json\n', 'BODY_FILE_UNREADABLE'],
    ['invalid YAML', 'push', 'path: [github\n', 'YAML_SYNTAX'],
    ['a wrong type', 'push', 'path: 7\n', 'WRONG_TYPE'],
    ['no delivery in the list', 'push', 'deliveries: []\n', 'INVALID_VALUE'],
    ['a time that is none', 'push', 'path: github\nnow: yesterday\n', 'INVALID_VALUE'],
    ['a header that is a number', 'push', 'path: github\nheaders: {x-count: 7}\n', 'WRONG_TYPE'],
    ['headers that are a list', 'push', 'path: github\nheaders: [a]\n', 'WRONG_TYPE'],
    ['a query value that is none', 'push', 'path: github\nquery: {page: null}\n', 'WRONG_TYPE'],
    ['an empty path', 'push', 'path: ""\n', 'INVALID_VALUE'],
    ['an empty file', 'push', '', 'WRONG_TYPE'],
    ['a list', 'push', '- path: github\n', 'WRONG_TYPE'],
    ['a delivery beside the list', 'push', 'path: github\ndeliveries: [{path: github}]\n', 'UNKNOWN_KEY'],
    ['a key of the list that is unknown', 'push', 'deliveries: [{path: github, boddy: {}}]\n', 'UNKNOWN_KEY'],
    ['too many deliveries', 'push', `deliveries:\n${'  - {path: github}\n'.repeat(51)}`, 'INVALID_VALUE'],
    ['a key twice', 'push', 'path: github\npath: gitlab\n', 'DUPLICATE_KEY'],
    ['a bodyFile that is a folder', 'push', 'path: github\nbodyFile: ../github\n', 'BODY_FILE_UNREADABLE'],
    ['more than 4 MB', 'push', `path: github\nbody: ${'x'.repeat(4_300_000)}\n`, 'FILE_TOO_LARGE'],
  ])('%s', async (_what, name, text, code) => {
    await run([]);
    await put(`test/golden/github/${name}.request.yaml`, text);
    const result = await run([]);
    expect(result.out).toContain(code);
    expect(result.exitCode).toBe(1);
  });

  test.each([
    ['one delivery', 'path: github\npayload: {}\n'],
    ['a list', 'deliveries: [{path: github, payload: {}}]\n'],
  ])('a key that there is none of, in %s', async (_what, text) => {
    await run([]);
    await put('test/golden/github/push.request.yaml', text);
    expect((await run([])).out).toContain('hint: remove it; the keys here are: path, headers, query, body');
  });

  test('two request files of one name', async () => {
    await run([]);
    await put('test/golden/github/push.request.json', '{"path": "github"}');
    const result = await run([]);
    expect(result.out).toContain('DUPLICATE_CASE');
    expect(result.exitCode).toBe(1);
  });

  test('invalid JSON in a bodyFile, at its place', async () => {
    await put('test/golden/github/push.request.yaml', 'path: github\nbodyFile: body.json\n');
    await put('test/golden/github/body.json', '{\n  "ref": }\n');
    const result = await run([]);
    expect(result.out).toMatch(/body\.json:2:\d+/);
    expect(result.exitCode).toBe(1);
  });

  test('an expectation that is no YAML', async () => {
    await run([]);
    await put('test/golden/github/push.expected.yaml', 'outcome: [\n');
    expect(await run([])).toMatchObject({ exitCode: 1 });
  });

  test('an expectation that was edited: a value, a key of its own, a prompt cut short', async () => {
    await run([]);
    const good = expectation();
    for (const edited of [
      good.replace('outcome: accepted', 'outcome: skipped'),
      `${good}note: looks fine\n`,
      good.replace('    Fix it', ''),
      good.replace(/^ {4}message: [^]*$/m, ''),
      good.replace('deliver: true', 'deliver: "true"'),
      '',
      '[]\n',
      'null\n',
    ]) {
      expect(edited).not.toBe(good);
      await put('test/golden/github/push.expected.yaml', edited);
      expect(await run([]), edited).toMatchObject({ exitCode: 1 });
      expect(expectation()).toBe(edited);
    }
  });

  test('an expectation written otherwise that says the same passes', async () => {
    await run([]);
    await put(
      'test/golden/github/push.expected.yaml',
      `# Reviewed.\n${expectation().replace('name: GitHub', 'name: "GitHub"')}\n`,
    );
    expect(await run([])).toMatchObject({ exitCode: 0 });
  });

  test.each([
    ['a request file', 'test/golden/github/push.request.yaml', 'path: github # \u00e9', 'INVALID_UTF8'],
    ['a bodyFile', 'test/golden/github/body.json', '{"by": "\u00e9"}', 'BODY_FILE_UNREADABLE'],
  ])('%s that is no UTF-8, as the server refuses it', async (_what, file, text, code) => {
    if (file.endsWith('.json'))
      await put('test/golden/github/push.request.yaml', 'path: github\nbodyFile: body.json\n');
    await writeFile(join(folder, file), Buffer.from(text, 'latin1'));
    const result = await run([]);
    expect(result.exitCode).toBe(1);
    expect(result.out).toContain(code);
    expect(existsSync(join(folder, 'test/golden/github/push.expected.yaml'))).toBe(false);
  });

  test('a bodyFile in a dialect of JSON that the server would refuse', async () => {
    await put('test/golden/github/push.request.yaml', 'path: github\nbodyFile: body.json\n');
    for (const text of ["{'a': 1}", '{"a": 1,}', '// note\n{}', '', 'NaN']) {
      await put('test/golden/github/body.json', text);
      const result = await run([]);
      expect(result.exitCode, text).toBe(1);
      expect(result.out, text).toMatch(/at \S*body\.json|bodyFile body\.json is not JSON/);
    }
  });

  test('a transform that fails: its log lines and its stack, mapped to the source', async () => {
    await put(
      'sluice.yaml',
      `${CONFIG}    - {id: digest, match: {path: digest}, transform: {module: digest.ts}, messageTemplate: none}\n`,
    );
    const source = (body: string): string =>
      `interface Push {\n  by?: { name: string };\n}\n\nexport default ({ payload }: { payload: Push }) => {\n  console.log('by', payload.by);\n  ${body}\n};\n`;
    await put('transforms/digest.ts', source('return { message: `by ${payload.by?.name}` };'));
    await put('test/golden/digest/one.request.yaml', 'path: digest\nbody: {by: null}\n');
    expect(await run(['digest'])).toMatchObject({ exitCode: 0 });
    await put('transforms/digest.ts', source('return { message: payload.by!.name };'));
    const failing = await run(['digest']);
    expect(failing.exitCode).toBe(1);
    expect(failing.out).toMatch(/- outcome: accepted[^]*\+ outcome: rejected/);
    expect(failing.out).toContain('console.log: by null');
    expect(failing.out).toMatch(/TypeError: Cannot read[^\n]*digest\.ts:7:\d+/);
    // The same code, yet not the failure that was reviewed.
    await run(['digest', '--update']);
    await put('transforms/digest.ts', source("throw new Error('another reason');"));
    expect(await run(['digest'])).toMatchObject({ exitCode: 1 });
  });

  test('an error in a mapping stops the run', async () => {
    await put('sluice.yaml', CONFIG.replace('messageTemplate', 'mesageTemplate'));
    const result = await run([]);
    expect(result.err).toContain('UNKNOWN_KEY');
    expect(result.exitCode).toBe(1);
  });

  test('a filter that fits no case, and an empty folder', async () => {
    expect(await run(['nothing'])).toMatchObject({ exitCode: 1 });
    expect(await run(['--dir', 'elsewhere'])).toMatchObject({ exitCode: 1 });
  });
});

test('several deliveries go through a real store: the second of one key is a duplicate', async () => {
  await put(
    'test/golden/once/twice.request.yaml',
    'deliveries:\n  - {path: once, body: {id: 1, text: hello}}\n  - {path: once, body: {id: 1, text: hello}}\n  - {path: once, body: {id: 2, text: hello}}\n',
  );
  await run([]);
  expect(await run(['once'])).toMatchObject({ exitCode: 0 });
  const text = readFileSync(join(folder, 'test/golden/once/twice.expected.yaml'), 'utf8');
  expect(text.match(/duplicate: true/g)).toHaveLength(1);
  await put('sluice.yaml', CONFIG.replace('textTemplate: "{{text}}"', 'textTemplate: "{{text}}!"'));
  const failing = await run(['once']);
  expect(failing.exitCode).toBe(1);
  expect(failing.out).toMatch(/\+ +text: hello![^]*delivery 1\n[^]*delivery 2\n[^]*delivery 3\n/);
  // What a repeat does is nothing: its actions are not listed again.
  expect(text.match(/text: hello/g)).toHaveLength(2);
});

test('a case says to which of the given conversations an event came, and what waits for none', async () => {
  await put(
    'sluice.yaml',
    `hooks:
  enabled: true
  token: golden-test-token-0123456789
  mappings:
    - id: comment
      match: {path: comment}
      sessionKey: 'hook:{{number}}'
      messageTemplate: '{{text}}'
      conversation: {owner: talks, start: false, keys: ['hook:branch:{{branch}}']}
`,
  );
  const given = 'conversations: [{owner: talks, key: "hook:7", keys: ["hook:branch:fix"]}]';
  const body = (number: number, branch: string): string =>
    `path: comment\nbody: {number: ${number}, branch: ${branch}, text: hello}\n`;
  await put('test/golden/talks/by-branch.request.yaml', `${body(8, 'fix')}${given}\n`);
  await put('test/golden/talks/none.request.yaml', `${body(8, 'other')}${given}\n`);
  await put(
    'test/golden/talks/late.request.yaml',
    `deliveries:\n  - {path: comment, body: {number: 7, branch: x, text: one}}\n  - {path: comment, body: {number: 7, branch: x, text: two}, ${given}}\n`,
  );
  await run(['talks']);
  expect(await run(['talks'])).toMatchObject({ exitCode: 0 });
  const read = (name: string): string =>
    readFileSync(join(folder, `test/golden/talks/${name}.expected.yaml`), 'utf8');
  expect(read('by-branch')).toContain('cameTo: hook:7');
  expect(read('none')).toContain('without: waiting');
  expect(read('late')).toMatch(/without: waiting[^]*cameTo: hook:7/);
});

test('a body that is null is null, as it is on the wire, and none at all is an empty object', async () => {
  await put('test/golden/wake/null.request.yaml', 'path: wake\nbody: null\n');
  await put('test/golden/wake/none.request.yaml', 'path: wake\n');
  await run([]);
  const read = (name: string): string =>
    readFileSync(join(folder, `test/golden/wake/${name}.expected.yaml`), 'utf8');
  expect(read('null')).toContain('code: invalid_body');
  expect(read('none')).toContain('code: missing_text');
});

test('reporters go to files, several at once', async () => {
  await run([]);
  await put('test/golden/github/push.request.yaml', REQUEST.replace('ada', '"<b>&"'));
  const result = await run([
    '--reporter=junit=out/junit.xml',
    '--reporter=json=out/report.json',
    '--reporter=github',
  ]);
  expect(result.exitCode).toBe(1);
  const junit = await readFile(join(folder, 'out/junit.xml'), 'utf8');
  expect(junit).toContain('failures="1"');
  expect(junit).toContain('&lt;b&gt;&amp;');
  const json = JSON.parse(await readFile(join(folder, 'out/report.json'), 'utf8')) as {
    cases: { status: string }[];
  };
  expect(json.cases.map((entry) => entry.status)).toEqual(['failed']);
  expect(result.out).toMatch(/^::error file=test\/golden\/github\/push\.request\.yaml,line=1,title=/m);
});

test('an unknown reporter and a percentage that is none are wrong usage', async () => {
  expect(await run(['--reporter=html'])).toMatchObject({ exitCode: 2 });
  expect(await run(['--fail-under', 'most'])).toMatchObject({ exitCode: 2 });
});

describe('coverage', () => {
  test('names every mapping, condition side and block side that no case reaches', async () => {
    const result = await run(['--coverage']);
    expect(result.out).toMatch(/sluice\.yaml:6:\d+ {2}the condition never fails/);
    expect(result.out).toMatch(/sluice\.yaml:\d+:\d+ {2}mapping once is never taken/);
    expect(result.out).toMatch(/sluice\.yaml:11:\d+ {2}the block is never left out/);
    expect(result.out).toContain('coverage 3/6: mappings 1/2 · conditions 1/2 · template blocks 1/2');
  });

  test('leaves out what a comment says, with its reason, and counts it for nothing', async () => {
    await put(
      'sluice.yaml',
      CONFIG.replace(
        '    - id: once',
        '    # sluice-coverage ignore: only the shop system sends it\n    - id: once',
      ),
    );
    const result = await run([
      '--coverage',
      '--coverage-file',
      'json=coverage.json',
      '--coverage-file',
      'text',
    ]);
    expect(result.out).not.toContain('mapping once');
    expect(result.out).toContain(
      'coverage 3/5: mappings 1/1 · conditions 1/2 · template blocks 1/2 · 1 ignored',
    );
    const { items } = JSON.parse(await readFile(join(folder, 'coverage.json'), 'utf8')) as {
      items: object[];
    };
    expect(items).toContainEqual(
      expect.objectContaining({ kind: 'mapping', ignored: 'only the shop system sends it' }),
    );
  });

  test('--fail-under compares exact fractions', async () => {
    expect(await run(['--fail-under', '50'])).toMatchObject({ exitCode: 0 });
    expect(await run(['--fail-under', '50.01'])).toMatchObject({ exitCode: 1 });
  });

  test('is written as JSON and LCOV', async () => {
    await run(['--coverage-file', 'lcov=out/lcov.info', '--coverage-file', 'json=out/coverage.json']);
    expect(await readFile(join(folder, 'out/lcov.info'), 'utf8')).toMatch(
      /SF:.*sluice\.yaml\n[^]*BRH:2\n[^]*end_of_record/,
    );
    expect(JSON.parse(await readFile(join(folder, 'out/coverage.json'), 'utf8'))).toMatchObject({
      covered: 3,
      total: 6,
    });
  });
});
