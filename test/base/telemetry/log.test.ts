import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { clearControl, clearLine, createLogger } from '../../../src/base/telemetry/telemetry.ts';
import { withoutCommands } from '../../../src/base/telemetry/facts.ts';
import type { LogOptions } from '../../../src/base/telemetry/log.ts';
import { CODE_POINT } from '../../support/code-point.ts';

function capture(options: LogOptions = {}): { lines: string[]; log: ReturnType<typeof createLogger> } {
  const lines: string[] = [];
  return { lines, log: createLogger({ ...options, destination: { write: (line) => lines.push(line) } }) };
}

test('a line is one JSON object with level, ISO time, fields and message', () => {
  const { lines, log } = capture();
  log.info({ status: 202, mapping: 'github' }, 'hook accepted');
  log.debug({}, 'below the level');
  expect(lines).toHaveLength(1);
  expect(JSON.parse(lines[0] ?? '')).toEqual({
    level: 'info',
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    status: 202,
    mapping: 'github',
    msg: 'hook accepted',
  });
});

test('a line is what JSON makes of its fields, whatever they hold', () => {
  const key = fc.string({ unit: CODE_POINT }).filter((name) => !['level', 'time', 'msg'].includes(name));
  const value = fc.oneof(
    fc.jsonValue({ maxDepth: 3 }),
    fc.string({ unit: CODE_POINT }),
    fc.double(),
    fc.constant(undefined),
  );
  fc.assert(
    fc.property(fc.dictionary(key, value), fc.string({ unit: CODE_POINT }), (fields, message) => {
      const { lines, log } = capture();
      log.info(fields, message);
      log.child(fields).info({}, message);
      for (const line of lines) {
        expect(line.indexOf('\n')).toBe(line.length - 1);
        const { level: _level, time: _time, ...read } = JSON.parse(line) as Record<string, unknown>;
        expect(read).toEqual(JSON.parse(JSON.stringify({ ...fields, msg: message })));
      }
    }),
    { seed: 42, numRuns: 300 },
  );
});

test('an adopted configuration sets level and format for the log and its children', () => {
  const { lines, log } = capture();
  const child = log.child({ part: 'x' });
  log.adopt({ level: 'warn', format: 'pretty' });
  child.info({}, 'below the level');
  child.warn({}, 'written');
  expect([log.isEnabled('info'), child.isEnabled('warn')]).toEqual([false, true]);
  expect(lines).toEqual([expect.stringMatching(/^\d\d:\d\d:\d\d warn {2}written part=x\n$/)]);
});

test('texts under a secret name are replaced at any depth, numbers stay', () => {
  const { lines, log } = capture();
  const own = { token: 'abc', passwords: 7, secret: ['abc'], Cookie: { a: 'abc' }, queryToken: 'header' };
  log.child(own).info(own, 'x');
  expect(lines.shift()?.match(/\{"level.*?(,"token.*)\1,"msg":"x"\}\n/)?.[1]).toBe(
    ',"token":"[redacted]","passwords":7,"secret":"[redacted]","Cookie":"[redacted]","queryToken":"header"',
  );
  const headers = { authorization: 'Bearer abc', cookie: 'c', 'x-service-token': 'abc', accept: '*/*' };
  log.info({ a: { b: [{ headers, botToken: 'abc', apiKey: 'abc' }] }, usage: { inputTokens: 7 } }, 'x');
  expect(lines[0]).not.toContain('abc');
  const fields = JSON.parse(lines[0] ?? '') as { usage: unknown; a: { b: { headers: object }[] } };
  expect(fields.usage).toEqual({ inputTokens: 7 });
  expect(fields.a.b[0]?.headers).toEqual({
    authorization: '[redacted]',
    cookie: '[redacted]',
    'x-service-token': '[redacted]',
    accept: '*/*',
  });
});

test('a token in a query is replaced, the rest of the address stays', () => {
  const { lines, log } = capture();
  log.info({ url: '/hooks/wake?a=1&token=s3cr3t&b=2', other: 'http://x/?TOKEN=s3cr3t#f' }, 'x');
  expect(lines[0]).not.toContain('s3cr3t');
  expect(lines[0]).toContain('/hooks/wake?a=1&token=[redacted]&b=2');
});

test.each(['json', 'pretty'] as const)('a protected value appears nowhere in a %s line', (format) => {
  const { lines, log } = capture({ format });
  const secret = 'p"ass\\wörd/1';
  log.protect(secret);
  const child = log.child({ inherited: `x${secret}` });
  child.error({ [secret]: 1, err: new Error(`refused ${secret}`), json: JSON.stringify({ secret }) }, secret);
  child.warn({ url: `http://h/${encodeURIComponent(secret)}` }, 'encoded');
  const text = lines.join('');
  expect(text).not.toContain('wörd');
  expect(text).not.toContain(encodeURIComponent('wörd'));
  expect(text.match(/\[redacted\]/g)?.length).toBeGreaterThanOrEqual(6);
});

test('the bound of a text leaves no beginning of a protected value', () => {
  const { lines, log } = capture();
  const secret = 'correct horse battery staple';
  log.protect(secret);
  for (let before = 1_970; before < 2_001; before += 1) log.warn({ said: 'x'.repeat(before) + secret }, 'x');
  expect(lines.join('')).not.toContain('corr');
});

test('fields are bounded: cycles, long texts, long lists, and a field named __proto__', () => {
  const { lines, log } = capture();
  const cycle: Record<string, unknown> = { big: 12n, at: new Date(0), bytes: Buffer.alloc(3) };
  cycle['self'] = cycle;
  const odd = JSON.parse('{"__proto__": {"x": 1}}') as Record<string, unknown>;
  log.info({ cycle, odd, text: 'x'.repeat(10_000), list: Array.from({ length: 1000 }, () => 1) }, 'x');
  expect(lines[0]?.length).toBeLessThan(4000);
  expect(lines[0]).toContain('"__proto__":{"x":1}');
  expect(lines[0]).toContain('"big":"12","at":"1970-01-01T00:00:00.000Z","bytes":"[3 bytes]"');
});

test('pretty prints one readable line and nothing that moves the cursor', () => {
  const { lines, log } = capture();
  log.adopt({ level: 'debug', format: 'pretty' });
  log.debug(
    { mapping: 'github', why: 'two\nlines\u001b[31m \u202ered' },
    'hook \u001b]0;title\u0007accepted',
  );
  expect(lines[0]).toMatch(/^\d\d:\d\d:\d\d debug hook accepted mapping=github why="two\\nlines red"\n$/);
  expect(lines).toHaveLength(1);
});

test('pretty uses colours only where it is asked to', () => {
  const { lines, log } = capture({ format: 'pretty', color: true });
  log.warn({}, 'x');
  // oxlint-disable-next-line no-control-regex
  expect(lines[0]).toMatch(/\u001b\[33mwarn/);
});

test('clearControl removes sequences, control, zero-width and direction characters', () => {
  expect(
    clearControl('a\u001b[2Jb\u0000c\u009bd\u200be\u202ef\ufeffg\r\nh\ti\u001b]8;;http://x\u001b\\j'),
  ).toBe('abcdefg\nh\tij');
  expect(clearLine('a\nb\tc')).toBe('a b c');
  expect(clearControl('Grüße 😀 日本')).toBe('Grüße 😀 日本');
});

/** As the runner of GitHub's actions finds a command in a line; it compares as ICU does, without what has no weight. */
function isCommand(line: string): boolean {
  const compared = line.replaceAll(/[\p{C}\p{Mn}\p{Default_Ignorable_Code_Point}]/gu, '');
  return /^\s*::/.test(compared) || compared.includes('##[');
}

test('withoutCommands leaves nothing that a runner obeys, in linear time, and JSON as it is', () => {
  const piece = fc.oneof(
    fc.constantFrom(
      ...Array.from('::##[[]]\n\r\t \u00a0\u0085\u2028\u200b\u00ad\ufeff\u0301\u001b\v\f'),
      'a',
    ),
    fc.string({ unit: CODE_POINT, maxLength: 2 }),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
      const text = pieces.join('');
      // oxlint-disable-next-line no-control-regex
      const lines = withoutCommands(text).split(/[\n\v\f\r\u001c-\u001e\u0085\u2028\u2029]/);
      expect(lines.filter(isCommand)).toEqual([]);
      expect(JSON.parse(withoutCommands(JSON.stringify({ text })))).toEqual({ text });
    }),
    { seed: 1, numRuns: 2_000 },
  );
  // Where a sign is looked back from more than once, these take minutes.
  for (const unit of [' ', ':', '#', '\n', ':\0', '#\0', '    :']) withoutCommands(unit.repeat(400_000));
});

test('what was logged last is written even where the process ends at once', () => {
  const entry = fileURLToPath(new URL('../../../src/base/telemetry/telemetry.ts', import.meta.url));
  const script = `import { createLogger } from ${JSON.stringify(entry)};
    const log = createLogger(); for (let i = 0; i < 50; i++) log.info({ i }, 'line'); log.flush(); process.exit(3);`;
  const { status, stderr, stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    encoding: 'utf8',
    timeout: 60_000,
  });
  expect([status, stdout]).toEqual([3, '']);
  expect(stderr.trim().split('\n')).toHaveLength(50);
});
