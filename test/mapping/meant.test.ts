/** Words and values of other tools in a mapping: the hint says what to write, and its edit leaves no such finding. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  applyEdits,
  formatDiagnostics,
  parseDocument,
  type Diagnostic,
} from '../../src/document/document.ts';
import { hideValues } from '../../src/config/config.ts';
import { meantRule } from '../../src/mapping/condition/meant-rule.ts';
import { compileMappings, loadMappings } from '../../src/mapping/mapping.ts';
import { meantDateFormat } from '../../src/mapping/template/date-format.ts';

function check(text: string): readonly Diagnostic[] {
  const { document, diagnostics } = parseDocument({ file: 'a.yaml', text }, 'yaml');
  if (document === undefined) return diagnostics;
  return compileMappings([{ value: document.root, dialect: 'sluice' }], {}).diagnostics;
}

const BASE = 'id: a\nmatch: { path: a }\n';
const WITH_TEXT = `${BASE}messageTemplate: x\n`;

test.each([
  ['action: run', /here it is called "agent"/],
  ['summary: none', /here it is called "never"/],
  ['wakeMode: later', /here it is called "next-heartbeat"/],
  ['rate: 10/min', /write rate: \{perMinute: 10\}/],
  ['rate: 5 per second', /write rate: \{perMinute: 300\}/],
  ['answer: ok', /write answer: \{status: 200, body: "ok"\}/],
  ["dedupe: '{{id}}'", /write dedupe: \{key: '\{\{id\}\}'\}/],
  ['dedupe: true', /write dedupe: body/],
  ['timeoutSeconds: 10m', /a number of seconds: write 600/],
  ['maxBodyBytes: 2mb', /a number of bytes: write 2097152/],
  ["deliver: 'no'", /write false, without quotes/],
  ['forEach: $.items[*]', /write forEach: items/],
  ['session: hook:a', /called "sessionKey"/],
  ['ignoreSenders: { accounts: [a] }', /write ignoreSenders: \["a"\]/],
  ['bodyFormat: application/x-www-form-urlencoded', /write bodyFormat: form/],
  ['bodyFormat: json-format', /write bodyFormat: json/],
  ['answer: { body: { type: 5 } }', /the body is a text: write body: "\{\\"type\\":5\}"/],
  ["debounce: { key: '{{id}}', seconds: 1m }", /a number of seconds: write 60/],
  ['verify: { scheme: gitlab-token, secrets: ["${GL}"] }', /write scheme: gitlab/],
  ['limits: 10', /write limits: \{runsPerHour: 10\}/],
  ['limits: 20 per hour', /write limits: \{runsPerHour: 20\}/],
  ['limits: { perHour: 10 }', /called "runsPerHour"/],
  ['fallback: slack', /write fallback: \{channel: slack\}/],
  ['answer: 201', /write answer: \{status: 201, body: ""\}/],
  ['dedupe: [id, action]', /write dedupe: \{key: '\{\{id\}\} \{\{action\}\}'\}/],
  ['otherwise: 204', /write otherwise: skip/],
  ['otherwise: ignore', /write otherwise: skip/],
  ['otherwise: 404', /write otherwise: reject/],
  ['keepRequests: false', /write keepRequests: none/],
  ['forEach: { path: items }', /write forEach: items/],
  // A key that is missing under its right name is no second finding.
  ['verify: { scheme: basic, username: a, secrets: ["${A}"] }', /did you mean "user"/],
])('%s is mended', (line, hint) => {
  const text = `${WITH_TEXT}${line}\n`;
  const found = check(text);
  expect(found.map((one) => one.hint)).toEqual([expect.stringMatching(hint)]);
  expect(
    check(
      applyEdits(
        text,
        found.flatMap(({ edit }) => (edit === undefined ? [] : [edit])),
      ),
    ),
  ).toEqual([]);
});

test.each([
  ['secret: abc', /verify: \{scheme: github, secrets: \['\$\{NAME\}'\]\}/],
  ['on: push', /match\.when/],
  ['debounce: 30', /write debounce: \{key: '\{\{id\}\}', seconds: 30\}/],
  ['debounce: 5m', /seconds: 300\}/],
  ['debounce: 1d', /seconds: 86400\}/],
  ['debounce: 500ms', /seconds: …\}/],
  ['debounce: 2 fortnights', /seconds: …\}/],
  ['debounce: true', /seconds: 30\}/],
  ['rate: 100/month', /rate/],
  ['bodyFormat: multipart/form-data', /a form in parts .* is not taken/],
  ['limits: 100 per day', /runs are limited by the hour/],
  ['verify: sha256', /write verify: \{scheme: hmac, algorithm: sha256, header: X-Signature/],
  ['verify: bearer', /write verify: \{scheme: token/],
  ['verify: true', /write verify: \{scheme: …/],
  ['keepRequests: all', /storage\.keepRequests: \{which: all\}/],
  ['callbackUrl: { url: https://a.example }', /write the address itself: callbackUrl: https/],
  ['transform: [a.ts, b.ts]', /a mapping has one transform: write transform: a\.ts/],
  ['method: [GET, POST]', /a path takes one method/],
  ['allowFrom: [hooks.example.com]', /names are not looked up/],
  ['transform: { module: a.ts, timeoutSeconds: 5 }', /write timeoutMs/],
  ['retry: 3', /remove it: an agent that is away is waited for/],
  ['verify: github', /write verify: \{scheme: github, secrets: \['\$\{GITHUB_SECRET\}'\]\}/],
  ["verify: { scheme: github, secrets: ['$GH_SECRET'] }", /write secrets: \['\$\{GH_SECRET\}'\]/],
  [
    "verify: { scheme: github, secrets: ['${{ secrets.GH_SECRET }}'] }",
    /write secrets: \['\$\{GH_SECRET\}'\]/,
  ],
  ["verify: { scheme: github, secrets: ['hunter2hunter2'] }", /put the secret itself into the environment/],
  ["verify: { scheme: github, secret: '${A}' }", /write secrets, a list of references/],
  [
    "if: ${{ payload.ref == 'x' }}",
    /belongs into match, in JsonLogic: when: \{"===": \[\{"var": "payload\.ref"\}, "x"\]\}/,
  ],
  ['channel: "#alerts"', /channel is the platform, and "to" the place in it/],
  ['channel: "slack:#alerts"', /channel: slack and to: "#alerts"/],
])('%s is told what to write', (line, hint) => {
  const found = check(`${WITH_TEXT}${line}\n`);
  expect(found.map((one) => one.hint)).toContainEqual(expect.stringMatching(hint));
  expect(JSON.stringify(found.map((one) => [one.message, one.hint]))).not.toContain('hunter2');
});

test.each(['verify: whsec_hunter2', 'verify: [whsec_hunter2]', 'verify:\n  - whsec_hunter2'])(
  '%s is a secret in the wrong place, and not printed',
  (line) => {
    const found = check(`${WITH_TEXT}${line}\n`);
    expect(found.map(({ code }) => code)).toEqual(['WRONG_TYPE']);
    expect(formatDiagnostics(found)).not.toContain('hunter2');
  },
);

const GITHUB = `ghp_${'aB3'.repeat(12)}`;

test.each([
  `when: "headers['x-gitlab-token'] == 'hunter2'"`,
  `when: 'query.secret = "hunter2"'`,
  `when: { '===': [{ var: headers.x-gitlab-token }, hunter2, hunter2] }`,
  `when: { in: [{ var: headers.x-api-key }, 'hunter2,hunter2'] }`,
  `# token: hunter2\n  when: { nonsense: 1 }`,
  `when: { startsWith: [{ var: a }, ${GITHUB}, x] } # ${GITHUB}`,
  `when: { ${GITHUB}: 1 }`,
  `path: ${GITHUB}`,
])('%s: what may be a secret is not printed', (line) => {
  const found = check(`id: a\nmatch:\n  path: a\n  ${line}\nmessageTemplate: x\n`);
  expect(found.length).toBeGreaterThan(0);
  const text = formatDiagnostics(hideValues(found, []));
  expect(text).not.toMatch(/hunter2|aB3/);
});

test.each([
  [
    "${{ payload.workflow_run.conclusion == 'failure' }}",
    '{"===": [{"var": "payload.workflow_run.conclusion"}, "failure"]}',
  ],
  ["action == 'a' || action === 'b'", '{"in": [{"var": "action"}, ["a", "b"]]}'],
  [
    'a = 1 AND (b >= 3 or not c)',
    '{"and": [{"===": [{"var": "a"}, 1]}, {"or": [{">=": [{"var": "b"}, 3]}, {"!": {"var": "c"}}]}]}',
  ],
  ["['a', 'b'].includes(action)", '{"in": [{"var": "action"}, ["a", "b"]]}'],
  ["!labels.includes('in')", '{"!": {"in": ["in", {"var": "labels"}]}}'],
  ["!(action == 'opened')", '{"!": {"===": [{"var": "action"}, "opened"]}}'],
  ['score >= 0.50', '{">=": [{"var": "score"}, 0.5]}'],
  ["title.includes('urgent')", '{"in": ["urgent", {"var": "title"}]}'],
  ["ref.startsWith('refs/tags/')", '{"===": [{"substr": [{"var": "ref"}, 0, 10]}, "refs/tags/"]}'],
  ["headers['x-github-event'] != 'push'", '{"!==": [{"var": "headers.x-github-event"}, "push"]}'],
  ['5 < $json.body.score', '{">": [{"var": "score"}, 5]}'],
  ["action not in ('a', 'b')", '{"!": {"in": [{"var": "action"}, ["a", "b"]]}}'],
  ['x?.y != null', '{"!": {"missing": ["x.y"]}}'],
])('the condition %s is written as JsonLogic', (text, rule) => {
  expect(meantRule(text)).toBe(rule);
});

test.each([
  'push',
  'true',
  'commits.length > 0',
  'a.filter(x => x) == 1',
  'Please do (this) now',
  "github.ref == 'x'",
  '(a == 1',
  // Neither a rule that is always true nor one that is always false is written.
  'title.includes("")',
  "startsWith(ref, '')",
  "ref.endsWith('')",
  'head.repo == base.repo',
  'body.text contains user.name',
  // JavaScript asks whether the negation is the text; a double holds another id; 007 is no number.
  '!action == "opened"',
  '!!action == "opened"',
  'id == 820982911946154508',
  'code == 007',
])('the text %s is no condition that is known for certain', (text) => {
  expect(meantRule(text)).toBeUndefined();
});

test.each([
  'yyyy-MM-dd HH:mm',
  'dd.MM.yyyy',
  'HH:mm:ss',
  'EEE dd MMM',
  'HH:mm dd.MM.',
  'mm:ss',
  'yyyyMMddHHmmss',
  'HHmm ddMM',
  'MM/yyyy',
])('the date format %s is right', (format) => {
  expect(meantDateFormat(format)).toBeUndefined();
});

test('a condition beside one that is there is joined with it', () => {
  const text =
    'id: a\nmatch: { path: a, when: { \'===\': [{ var: kind }, b] } }\nmessageTemplate: x\nif: "!draft"\n';
  expect(check(text).map((one) => one.hint)).toEqual([
    expect.stringContaining('when: {"and": [{"===": [{"var": "kind"}, "b"]}, {"!": {"var": "draft"}}]}'),
  ]);
});

test('a second match says how two conditions are joined', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-twice-'));
  try {
    writeFileSync(join(folder, 'a.yaml'), `${WITH_TEXT}match: { path: b }\n`);
    const { diagnostics } = await loadMappings({ inline: [], mappingsDir: folder, presets: [] });
    expect(diagnostics).toEqual([
      expect.objectContaining({
        code: 'DUPLICATE_KEY',
        hint: expect.stringContaining('when: {"or": [rule, rule]}'),
      }),
    ]);
    expect(diagnostics[0]?.labels?.map(({ text }) => text)).toEqual(['first given here']);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
