/** What a person sees after each of thirty mistakes from real threads, in `explain ID` and in `dev`, and after the fix. */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  checkWithSample,
  corrected,
  type MistakeCase,
  type MistakesPlayed,
  openMistakes,
  readMistakes,
  rowsOf,
} from '../../support/mistake-cases.ts';

/** Rows of a terminal of 80 columns, from the first line about the request to the last line of the hint. */
const MAX_ROWS = 24;
const mistakes = readMistakes();
/** Of these the first hint says nothing: what would be said is a guess. */
const SILENT = ['bitbucket-ref', 'grafana-rule-name'];

let open: MistakesPlayed;
beforeAll(async () => (open = await openMistakes(mistakes)));
afterAll(() => open.end());

const hintsIn = (lines: readonly string[]): readonly string[] =>
  lines.filter((line) => /^ *hint: (?!change the condition shown above)/.test(line));

/** The lines from the first about the request to the end of the last hint. */
function toHint(lines: readonly string[]): readonly string[] {
  const end = lines.findIndex((line) => /^ *more: /.test(line));
  return lines.slice(0, end === -1 ? lines.length : end);
}

/** What `explain` says between its first and its last line, without ids and the values that a shape has no more. */
const saidIn = (explain: readonly string[]): readonly string[] =>
  explain
    .slice(1, -1)
    .map((line) => line.replace(/\b[\da-f-]{36}\b/g, 'ID').replace(/\("[^"]*"\)/g, '(VALUE)'));

/** The first place in the files that is named. */
const placeIn = (explain: readonly string[]): string | undefined =>
  /mappings\/hooks\.yaml:\d+:\d+/.exec(explain.join('\n'))?.[0];

/** Texts of the body that are long enough to be known again, but for those that the mappings have, too. */
function valuesOf({ request: { body, raw }, mappings }: MistakeCase): readonly string[] {
  const texts = (raw ?? JSON.stringify(body) ?? '').match(/(?<=: ?\\?")[^"\\]{8,}/g) ?? [];
  return texts.filter((text) => !mappings.includes(text));
}

const rows: number[] = [];
interface InDev {
  readonly answer: string;
  readonly explain: readonly string[];
}

/** What `dev` made of each mistake. */
const inDev = new Map<string, InDev>();

/** The same where that test was left out. */
async function inDevOf(mistake: MistakeCase): Promise<InDev> {
  const { answer, explain } = await open.play(mistake);
  return { answer, explain: await explain() };
}

/** What costs much is done for all mistakes in the long form, and for a third of them otherwise. */
const isPlayed = (index: number, third: number): boolean =>
  process.env['TEST_FORM'] === 'long' || index % 3 === third;

/** What was measured of each mistake, as the table of `test/mistakes/README.md` has it. */
const measured = new Map<string, string>();
const README = fileURLToPath(new URL('../../mistakes/README.md', import.meta.url));

/** Whether the first hint says what the thread came to, something else, or nothing. */
function verdictOf({ name, expect: { says } }: MistakeCase, printed: readonly (readonly string[])[]): string {
  if (SILENT.includes(name)) return 'none';
  return printed.every((lines) => new RegExp(says).test(toHint(lines).join('\n'))) ? 'right' : 'misled';
}

/** How a hint begins where something is pasted, which stands on the next line. */
const VERB = /^ *hint: (?:compare|let|look|open|read|remove|replace|send|set|take|write)\b/;

describe.each(mistakes.map((mistake, index) => ({ ...mistake, index })))('$name', (mistake) => {
  test('the first hint says what the thread came to, in few rows', async () => {
    const played = await open.play(mistake);
    expect(played.answer).toBe(String(mistake.expect.answer));
    // After it the run has ended, of which explain would be asked again.
    const dev = await played.dev();
    const explain = await played.explain();
    inDev.set(mistake.name, { answer: played.answer, explain });
    const counts = [rowsOf(explain), rowsOf(toHint(explain)), rowsOf(toHint(dev))];
    measured.set(mistake.name, [verdictOf(mistake, [explain, dev]), ...counts].join(' | '));
    const said = new RegExp(mistake.expect.says);
    for (const lines of [explain, dev]) {
      rows.push(rowsOf(toHint(lines)));
      const hints = hintsIn(lines);
      if (SILENT.includes(mistake.name)) expect(hints).toEqual([]);
      else expect(toHint(lines).join('\n')).toMatch(said);
      expect(hints.length).toBeLessThanOrEqual(2);
      expect(hints.filter((line) => line.endsWith(':') && !VERB.test(line))).toEqual([]);
      expect(lines.filter((line) => /^ *more: /.test(line))).toHaveLength(1);
    }
  });

  test('after the right fix nothing more is said', async () => {
    const fixed = await open.play(corrected(mistake));
    expect(fixed.answer).toBe(String(mistake.after));
    expect(hintsIn(await fixed.dev())).toEqual([]);
    if (isPlayed(mistake.index, 2)) expect(hintsIn(await fixed.explain())).toEqual([]);
  });
});

test(`at least 28 of 30 take no more than ${MAX_ROWS} rows in each`, () => {
  expect(rows).toHaveLength(2 * mistakes.length);
  expect(rows.filter((each) => each > MAX_ROWS).length).toBeLessThanOrEqual(2);
});

/** What only a request shows: a secret, a method, or a set-up of which no part is in the sample. */
const UNSAID = [
  'agentmail-svix',
  'bitbucket-ref',
  'gateway-token-sent',
  'get-instead-of-post',
  'gitea-signature',
  'gmail-without-preset',
  'grafana-rule-name',
  'linear-signature',
  'shopify-hex',
  'slack-interactive-form',
  'slack-url-verification',
  'stripe-cli-secret',
];
/** The same fix as that of a request, in other words. */
const OTHER_WORDS: Readonly<Record<string, string>> = {
  'home-assistant-trigger': 'did you mean message\\?',
  'sentry-legacy-payload': 'did you mean event\\.title\\?',
};

test('with one sample of each, check says 18 of 30 before the first request, and nothing after the right fix', async () => {
  const unsaid: string[] = [];
  for (const mistake of mistakes) {
    const said = await checkWithSample(mistake);
    if (!new RegExp(OTHER_WORDS[mistake.name] ?? mistake.expect.says).test(said)) unsaid.push(mistake.name);
    expect([mistake.name, await checkWithSample(corrected(mistake))]).toEqual([
      mistake.name,
      expect.stringMatching(/^no findings/),
    ]);
  }
  expect(unsaid).toEqual(UNSAID);
});

test('the table of test/mistakes/README.md says what was measured; UPDATE_MISTAKES=1 writes it', () => {
  const text = readFileSync(README, 'utf8');
  const now = text.replaceAll(
    /^\| ([a-z][\w-]+) +\|((?: [^|]+\|){3}).*$/gm,
    (row, name: string, before: string) =>
      name === 'mistake' ? row : `| ${name} |${before} ${measured.get(name) ?? 'not played'} |`,
  );
  const cells = (table: string): string => table.replaceAll(/ *\| */g, '|');
  if (process.env['UPDATE_MISTAKES'] === '1') writeFileSync(README, now);
  else expect(cells(text)).toBe(cells(now));
});

describe('in production', () => {
  const serving = [
    { command: 'serve' },
    { command: 'serve', settings: 'storage: { keepRequests: { which: none } }\n' },
  ] as const;
  let served: readonly MistakesPlayed[];
  beforeAll(async () => (served = await Promise.all(serving.map((each) => openMistakes(mistakes, each)))));
  afterAll(() => Promise.all(served.map((each) => each.end())));

  const sentTo = (third: number): readonly MistakeCase[] =>
    mistakes.filter((_, index) => isPlayed(index, third));

  test.each(sentTo(0))('$name: serve says first what dev says', async (mistake) => {
    const kept = await served[0]!.play(mistake);
    const dev = inDev.get(mistake.name) ?? (await inDevOf(mistake));
    expect(kept.answer).toBe(dev.answer);
    // The same words for the same finding, at the same place: so it is as sure.
    expect(saidIn(await kept.explain())).toEqual(saidIn(dev.explain));
  });

  test.each(sentTo(1))('$name: serve that keeps no request names the place and no value', async (mistake) => {
    const unkept = await served[1]!.play(mistake);
    const dev = inDev.get(mistake.name) ?? (await inDevOf(mistake));
    expect(unkept.answer).toBe(dev.answer);
    const said = await unkept.explain();
    const place = placeIn(dev.explain);
    if (place !== undefined) expect(placeIn(said)).toBe(place);
    for (const value of valuesOf(mistake)) expect(said.join('\n')).not.toContain(value);
  });
});
