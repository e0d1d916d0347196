/** Words and values of other tools in a mapping: the hint says what to write, and its edit leaves no such finding. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { applyEdits, formatFindings } from '../../../src/base/document/facts.ts';
import { hideValues } from '../../../src/engine/config/config.ts';
import { loadMappings } from '../../../src/engine/mapping/mapping.ts';
import { ownDateFormat } from '../../../src/authoring/advice/dialects/date-formats.ts';
import { formatDate } from '../../../src/engine/mapping/template/template-date.ts';
import { advised, adviseFile } from '../../support/mapping-compile.ts';
import { said, saidFinding } from '../../support/said.ts';

const BASE = 'id: a\nmatch: { path: a }\n';
const WITH_TEXT = `${BASE}messageTemplate: x\n`;

test.each([
  ["dedupe: '{{id}}'", /write dedupe: \{key: '\{\{id\}\}'\}/],
  ['dedupe: true', /write dedupe: body/],
  ['timeoutSeconds: 10m', /^write 600: it is a number of seconds$/],
  ['maxBodyBytes: 2mb', /^write 2097152: it is a number of bytes$/],
  ["deliver: 'no'", /write false, without quotes/],
  ['forEach: $.items[*]', /write forEach: items/],
  ['session: hook:a', /rename it to "sessionKey"/],
  ['bodyFormat: application/x-www-form-urlencoded', /write bodyFormat: form/],
  ['bodyFormat: json-format', /write bodyFormat: json/],
  ["debounce: { key: '{{id}}', seconds: 1m }", /^write 60: it is a number of seconds$/],
  ['verify: { scheme: HMAC_SHA256, header: x, secrets: ["${GL}"] }', /write scheme: hmac$/m],
  ['verify: { scheme: gitlab-token, secrets: ["${GL}"] }', /write scheme: gitlab/],
  ['dedupe: [id, action]', /write dedupe: \{key: '\{\{id\}\} \{\{action\}\}'\}/],
  [
    'verify: { scheme: hmac, header: x, algorithm: HMAC-SHA512, secrets: ["${GL}"] }',
    /write algorithm: sha512/,
  ],
  ['verify: { scheme: hmac, header: x, encoding: Base-64, secrets: ["${GL}"] }', /write encoding: base64$/m],
  ['thinking: true', /write thinking: high, a level/],
  ["dedupe: { key: '{{id}}', ttlSeconds: 86400000 }", /^write ttlSeconds: 86400: the unit is seconds$/m],
  ['timeoutSeconds: 300000', /^write timeoutSeconds: 300$/m],
  // A key that is missing under its right name is no second finding.
  ['verify: { scheme: basic, username: a, secrets: ["${A}"] }', /did you mean "user"/],
])('%s is mended', (line, hint) => {
  const text = `${WITH_TEXT}${line}\n`;
  const found = adviseFile(text);
  expect(found.map((one) => said(one.hint))).toEqual([expect.stringMatching(hint)]);
  expect(
    adviseFile(
      applyEdits(
        text,
        found.flatMap(({ edit }) => (edit === undefined ? [] : [edit])),
      ),
    ),
  ).toEqual([]);
});

test.each([
  [
    'headers: { X-GitHub-Event: push }',
    /^read headers by when: .*, and let verify judge the one that proves who sends$/,
  ],
  ['body: { a: [1, 2] }', /^read fields of the body by when: /],
  ['when: { "!!": { var: x } }, query: { env: live }', /^read the query by when: /],
  // What may be a secret is not repeated.
  ['headers: { X-Gitlab-Token: hunter2 }', /^(?!.*hunter2).*let verify judge/],
])('match: {%s} is told the condition', (line, hint) => {
  const [found, ...more] = adviseFile(`id: a\nmatch: { path: a, ${line} }\nmessageTemplate: x\n`);
  expect(said(found?.hint)).toMatch(hint);
  expect(more).toEqual([]);
});

test.each([
  [
    'verify: { scheme: hmac-sha1, header: x, secrets: ["${GL}"] }',
    /write scheme: hmac, and below it algorithm: sha1/,
  ],
  [
    'verify: { scheme: vercel, secrets: ["${A}"] }',
    /write scheme: hmac, header: x-vercel-signature, algorithm: sha1 in place of scheme: vercel: Vercel has no scheme of its own$/m,
  ],
  [
    'verify: { scheme: Customer.io, secrets: ["${A}"] }',
    /write scheme: hmac, header: x-cio-signature, signed: 'v0:\{timestamp\}:\{body\}', timestampHeader: x-cio-timestamp in place of/m,
  ],
  ['verify: { scheme: gitea, secrets: ["${A}"] }', /write scheme: github \(gitea signs as GitHub does\)$/m],
  [
    'verify: { scheme: resend, secrets: ["${A}"] }',
    /write scheme: standard-webhooks \(resend signs as Standard Webhooks does\)$/m,
  ],
  ['verify: { scheme: acme, secrets: ["${A}"] }', /no such sender is known/],
  ['verify: { scheme: gitlub, secrets: ["${A}"] }', /did you mean "git/],
  [
    'verify: dropbox',
    /write verify: \{scheme: hmac, header: x-dropbox-signature, secrets: \['\$\{DROPBOX_SECRET\}'\]\}/,
  ],
  ['secret: abc', /verify: \{scheme: github, secrets: \['\$\{NAME\}'\]\}/],
  ['on: { push: { branches: ["release/**"] } }', /match\.when/],
  ['filter: { body: { type: [a, b] } }', /write it as match\.when, in JsonLogic/],
  ["filter: { '===': [{ var: action }, opened] }", /write it as match\.when, in JsonLogic/],
  [
    'execute-command: /opt/d.sh\npass-arguments-to-command: []',
    /hook of adnanh\/webhook: .* the command is a runner/,
  ],
  ['rate: 100/month', /rate/],
  ['bodyFormat: multipart/form-data', /write bodyFormat: form/],
  ['verify: sha256', /write verify: \{scheme: hmac, algorithm: sha256, header: X-Signature/],
  ['verify: bearer', /write verify: \{scheme: token/],
  ['verify: true', /write verify: \{scheme: …/],
  ['transform: [a.ts, b.ts]', /write transform: a\.ts, as a mapping has one transform/],
  ['method: [GET, POST]', /a path takes one method/],
  ['allowFrom: [hooks.example.com]', /names are not looked up/],
  ['transform: { module: a.ts, timeoutSeconds: 5 }', /write timeoutMs/],
  ['verify: github', /write verify: \{scheme: github, secrets: \['\$\{GITHUB_SECRET\}'\]\}/],
  ["verify: { scheme: github, secrets: ['$GH_SECRET'] }", /write secrets: \['\$\{GH_SECRET\}'\]/],
  [
    "verify: { scheme: github, secrets: ['${{ secrets.GH_SECRET }}'] }",
    /write secrets: \['\$\{GH_SECRET\}'\]/,
  ],
  ["verify: { scheme: github, secrets: ['hunter2hunter2'] }", /put the secret itself into the environment/],
  ["verify: { scheme: github, secret: '${A}' }", /write secrets, a list of references/],
  ["if: ${{ payload.ref == 'x' }}", /write it as match\.when, in JsonLogic/],
  ["verify: { scheme: stripe, secrets: ['${A}'], tolerance: 10m }", /^write toleranceSeconds, a number of/],
  ["verify: { scheme: square, secrets: ['${A}'], url: https://a.example }", /server\.publicUrl/],
  [
    'and: [{ "===": [{ var: kind }, x] }]',
    /write match: \{path: name, when: \{and: …\}\}.* into match\.when/,
  ],
  ['"===": [{ var: kind }, x]', /write match: \{path: name, when: \{"===": …\}\}.* into match\.when/],
  ['priority: 10', /the first mapping that matches acts/],
  ['verify: none', /remove verify: the path then asks for the hook token/],
  ['verify: { scheme: none }', /remove verify/],
  ['verify: { scheme: nobody, secrets: ["${A}"] }', /scheme: hmac with header: NAME/],
  ['deliver: slack', /write channel: slack in its place/],
  ['transform: {module: a.ts, env: {SHOP: "${SHOP}"}}', /write the value itself in place of \$\{SHOP\}/],
  ['challenge: true', /challenge: slack, or meta/],
  ['challenge: dropbox', /write challenge: \{echo: query\.challenge\}$/],
  ['challenge: {kind: asana}', /write challenge: \{echo: headers\.x-hook-secret\}$/],
  ['challenge: {echo: challenge}', /query\.NAME/],
  ['method: PUT', /a path takes one method/],
  ['channel: "#alerts"', /write the platform as channel, and the place in it as "to"/],
  ['channel: "slack:#alerts"', /channel: slack and to: "#alerts"/],
])('%s is told what to write', (line, hint) => {
  const found = adviseFile(`${WITH_TEXT}${line}\n`);
  expect(found.map((one) => said(one.hint))).toContainEqual(expect.stringMatching(hint));
  expect(JSON.stringify(found.map((one) => [said(one.message), said(one.hint)]))).not.toContain('hunter2');
});

test.each(['verify: whsec_hunter2', 'verify: [whsec_hunter2]', 'verify:\n  - whsec_hunter2'])(
  '%s is a secret in the wrong place, and not printed',
  (line) => {
    const found = adviseFile(`${WITH_TEXT}${line}\n`);
    expect(found.map(({ code }) => code)).toEqual(['WRONG_TYPE']);
    expect(formatFindings(found)).not.toContain('hunter2');
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
  'when: { “===”: [{ “var”: “headers.x-gitlab-token” }, “hunter2”] }',
  `path: ${GITHUB}`,
])('%s: what may be a secret is not printed', (line) => {
  const found = adviseFile(`id: a\nmatch:\n  path: a\n  ${line}\nmessageTemplate: x\n`);
  expect(found.length).toBeGreaterThan(0);
  const text = formatFindings(hideValues(found, []));
  expect(text).not.toMatch(/hunter2|aB3/);
});

test.each([
  [`'{"===": [{"var": "a"}, 1]}'`, 'write it without quotes, as it is a rule: {"===": [{"var": "a"}, 1]}'],
  [
    '[{ "!!": { var: a } }, { "!!": { var: b } }]',
    'join several rules with {"and": [...]}, or with "or" where one of them is enough',
  ],
  [
    `["type == 'a'", { '>': [{ var: n }, 3] }]`,
    'join several rules with {"and": [...]}, or with "or" where one of them is enough',
  ],
  [
    `{ '===': ['$.action', opened] }`,
    expect.stringMatching(/write \{"===": \[\{"var": "action"\}, "opened"\]\}$/),
  ],
  [
    '{ match: { type: value, value: a, parameter: { source: payload, name: b } } }',
    expect.stringContaining('{"in": ["part", {"var":"name"}]}'),
  ],
  [`{ '!in': [{ var: a }, [b]] }`, 'write {"!":{"===":[{"var":"a"},"b"]}}'],
  [`{ '!some': [{ var: a }, { var: b }] }`, 'write {"!":{"some":[{"var":"a"},{"var":"b"}]}}'],
  [
    '[{ "===": [{ var: headers.x-token }, hunter2] }, 1]',
    'join several rules with {"and": [...]}, or with "or" where one of them is enough',
  ],
])('the condition %s is told the rule', (when, hint) => {
  const found = adviseFile(`id: a\nmatch:\n  path: a\n  when: ${when}\nmessageTemplate: x\n`);
  expect(found.map((one) => said(one.hint))).toEqual([hint]);
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
  'HHhmm',
  'HH:mm [UTC]',
  '[yyyy-MM-dd HH:mm]',
  "'HH:mm'",
  'yyyy-MM-ddTHH:mm:ssZ',
  'dd.MM. um HH:mm Uhr',
  'dd.MM.yyyy at HH:mm',
  'HH h mm m',
  "dd MMM '24",
  'Week of dd MMM',
])('the date format %s is right', (format) => {
  expect(ownDateFormat(format)).toBeUndefined();
});

test.each([
  // moment, dayjs
  ['YYYY-MM-DD', '2026-12-03'],
  ['D.M.YYYY', '03.12.2026'],
  ['ddd, D MMM YYYY', 'Thu, 03 Dec 2026'],
  ['hh:mm A', '14:30'],
  ['DD/MM/YY', '03/12/2026'],
  // strftime
  ['%d.%m.%Y at %H:%M', '03.12.2026 at 14:30'],
  ['%a, %-d %b %Y', 'Thu, 03 Dec 2026'],
  ['%F %T', '2026-12-03 14:30:09'],
  // Slips
  ['yyyy-mm-dd HH:MM', '2026-12-03 14:30'],
])('the date format %s prints %s with what is proposed for it', (written, printed) => {
  const format = ownDateFormat(written) ?? written;
  expect(formatDate('2026-12-03T14:30:09Z', { format, timeZone: 'UTC' })).toBe(printed);
});

test('a second match says how two conditions are joined', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-twice-'));
  try {
    writeFileSync(join(folder, 'a.yaml'), `${WITH_TEXT}match: { path: b }\n`);
    const findings = advised(await loadMappings({ inline: [], mappingsDir: folder, presets: [] }));
    expect(findings.map(saidFinding)).toEqual([
      expect.objectContaining({
        code: 'DUPLICATE_KEY',
        hint: expect.stringContaining('whose when joins the rules by "or"'),
      }),
    ]);
    expect(findings[0]?.labels?.map(({ text }) => said(text))).toEqual(['first given here']);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
