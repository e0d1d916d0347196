/** Seeded mistakes in the text of a mapping, as people make them. */

/** A stream of numbers that depends on its seed alone. */
export interface Random {
  below(limit: number): number;
  pick<Value>(list: readonly Value[]): Value;
}

/** mulberry32: small, and the same on every machine. */
export function seeded(seed: number): Random {
  let state = (seed + 1) * 0x9e3779b1;
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number): number => Math.floor(next() * limit);
  return { below, pick: (list) => list[below(list.length)] as never };
}

/** Changes a text at one place; undefined where it has none. */
type Mistake = (text: string, random: Random, foreign: readonly string[]) => string | undefined;

/** The mapping with one to three mistakes; a tenth has none. */
export function editMapping(text: string, random: Random, foreign: readonly string[]): string {
  const count = random.below(10) === 0 ? 0 : 1 + random.below(3);
  let edited = text;
  for (let made = 0, tried = 0; made < count && tried < 20; tried += 1) {
    const changed = random.pick(MISTAKES)(edited, random, foreign);
    if (changed === undefined || changed === edited) continue;
    edited = changed;
    made += 1;
  }
  return edited;
}

/** Replaces one of the places that a pattern finds. */
function at(
  text: string,
  random: Random,
  { find, change }: { readonly find: RegExp; readonly change: (found: string) => string },
): string | undefined {
  const places = [...text.matchAll(find)];
  if (places.length === 0) return undefined;
  const place = random.pick(places);
  return text.slice(0, place.index) + change(place[0]) + text.slice(place.index + place[0].length);
}

const PATH = /\b(?:payload\.)?[a-z_]+(?:\.[a-z_]+)+(?=\}\}|\)| |$|"|')/gm;
const VARIABLE = /(?<=var: ?"?)[\w.-]+/g;
const EXPRESSION = /\{\{[^#/{}][^{}]*\}\}/g;

const typo =
  (random: Random) =>
  (word: string): string => {
    const index = 1 + random.below(Math.max(1, word.length - 2));
    const swapped =
      word.slice(0, index) + (word[index + 1] ?? '') + (word[index] ?? '') + word.slice(index + 2);
    return random.pick([
      swapped,
      word.slice(0, index) + word.slice(index + 1),
      `${word}s`,
      word.slice(0, index) + word.charAt(index) + word.slice(index),
    ]);
  };

const camel = (word: string): string =>
  word.replaceAll(/[_-](\w)/g, (_, letter: string) => letter.toUpperCase());

/** Another path to the same, as written by somebody who knows another tool or another sender. */
const otherPath =
  (random: Random) =>
  (path: string): string => {
    const parts = path.split('.');
    return random.pick<() => string>([
      () => [...parts.slice(0, -1), typo(random)(parts.at(-1) ?? '')].join('.'),
      () => camel(path),
      () => parts.slice(1).join('.') || path,
      () => ['data', ...parts].join('.'),
      () => [...parts.slice(0, -2), parts.at(-1)].join('.'),
      () => `payload.${path}`,
      () => `body.${path.replace(/^payload\./, '')}`,
      () => `event.${path.replace(/^payload\./, '')}`,
      () => [...parts.slice(0, -1), 'name'].join('.'),
      () => [...parts.slice(0, -1), '0', parts.at(-1)].join('.'),
      () => path.toUpperCase(),
    ])();
  };

const OPERATORS = [
  '=',
  '==',
  '!=',
  'eq',
  'equals',
  'is',
  'contains',
  'includes',
  'in',
  'some',
  'startsWith',
  'matches',
  'regex',
  '>',
  '<=',
  'and',
  'exists',
  '!',
];
const KEYS = [
  'messagetemplate',
  'message',
  'template',
  'text',
  'sessionkey',
  'session',
  'session_key',
  'prompt',
  'dedup',
  'dedupeKey',
  'when',
  'filter',
  'Name',
  'instruction',
  'deliver',
  'to',
  'model',
  'timeout',
];
const FOREIGN_PATHS = [
  (path: string) => `$json.body.${path}`,
  (path: string) => `$.${path}`,
  (path: string) => `.${path}`,
  (path: string) => `trigger.body.${path}`,
  (path: string) => `github.event.${path}`,
  (path: string) => `${path} | upcase`,
  (path: string) => `.Values.${path}`,
  (path: string) => `${path} || "none"`,
  (path: string) => `${path}[0]`,
  (path: string) => `toUpperCase ${path}`,
  (path: string) => `steps.trigger.event.${path}`,
];

const operator: Mistake = (text, random) =>
  at(text, random, {
    find: /(?:===|!==|==|\bin\b|\bsome\b|"!"|>=)(?=: ?[[\n"])|"(?:===|!==|==)"/g,
    change: (found) => (found.startsWith('"') ? `"${random.pick(OPERATORS)}"` : random.pick(OPERATORS)),
  });

/** Without its condition every request is the mapping's. */
const withoutCondition: Mistake = (text) => text.replace(/^ {2}when:.*\n(?: {4}.*\n)*/m, '');

const otherField: Mistake = (text, random) => at(text, random, { find: PATH, change: otherPath(random) });
const otherVariable: Mistake = (text, random) =>
  at(text, random, { find: VARIABLE, change: otherPath(random) });

/** What loads stands here more than once: only then is a request explained. */
const MISTAKES: readonly Mistake[] = [
  ...Array.from({ length: 8 }, () => otherField),
  ...Array.from({ length: 4 }, () => otherVariable),
  ...Array.from({ length: 6 }, () => withoutCondition),
  operator,
  // A value that is nearly the one that is sent, or of another kind.
  (text, random) =>
    at(text, random, {
      find: /(?<=^ +- )[a-z_]{3,}$/gm,
      change: (word) =>
        random.pick([
          word.toUpperCase(),
          `${word}ed`,
          word.slice(0, -1),
          typo(random)(word),
          '1',
          'true',
          'null',
          `"*${word}*"`,
          `/${word}/`,
        ]),
    }),
  (text, random) =>
    at(text, random, {
      find: /\b(?:true|false|\d+)$/gm,
      change: (word) => random.pick([`"${word}"`, 'null', '"yes"', '1']),
    }),
  (text, random) =>
    at(text, random, {
      find: /^\w+(?=:)/gm,
      change: (key) => random.pick([typo(random)(key), random.pick(KEYS)]),
    }),
  (text, random) =>
    at(text, random, {
      find: EXPRESSION,
      change: (found) => `{{${random.pick(FOREIGN_PATHS)(found.slice(2, -2).trim())}}}`,
    }),
  (text, random, foreign) => at(text, random, { find: EXPRESSION, change: () => random.pick(foreign) }),
  (text, random) =>
    at(text, random, {
      find: EXPRESSION,
      change: (found) =>
        random.pick([found.slice(1, -1), found.slice(0, -1), `$${found}`, found.slice(2, -2), `{{${found}`]),
    }),
  (text, random) =>
    at(text, random, {
      find: /\{\{#\w+|\{\{\/\w+\}\}/g,
      change: (found) => random.pick([`${found}s`, '', found.replace('#', ''), '{{#foreach']),
    }),
  (text, random) =>
    at(text, random, {
      find: /headers\.[\w-]+/g,
      change: (found) =>
        random.pick([
          found.toUpperCase(),
          found.replace('headers.', 'header.'),
          found.replaceAll('-', '_'),
          `${found}s`,
          found.replace('x-', ''),
        ]),
    }),
  // Keys that belong to a whole set-up, and are often written wrongly.
  (text, random) =>
    text +
    random.pick([
      'dedupe: body\n',
      "dedupe: { key: '{{id}}' }\n",
      "sessionKey: 'hook:{{payload.id}}'\n",
      "debounce: { key: '{{id}}', seconds: 5 }\n",
      'forEach: payload.items\n',
      'forEach: payload.data\n',
      'deliver: true\nchannel: slack\n',
      'wakeMode: next-heartbeat\n',
      "dedupe: { key: '{{timestamp}}' }\n",
      "name: '{{title}}'\n",
      'action: wake\n',
      'timeoutSeconds: 30s\n',
      "to: '{{user.id}}'\n",
      'verify: { scheme: github }\n',
      'source: github\n',
    ]),
  // A second part of the condition that the body does not fulfil.
  (text, random) =>
    at(text, random, {
      find: /^ {2}path: .*$/gm,
      change: (line) =>
        text.includes('  when:')
          ? line
          : `${line}\n  when: ${random.pick(['{ "==": [{ var: payload.status }, "open"] }', 'payload.action == "opened"', '{ payload.action: opened }', '{ "===": [{ var: action }, created] }', '\'{{eq action "opened"}}\'', '{ in: [{ var: payload.labels }, bug] }'])}`,
    }),
];
