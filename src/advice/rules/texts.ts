/** Texts of a mapping that YAML reads otherwise than they were meant: cut, folded, with keys in them. */
import { CHANNEL_ALIASES, CHANNEL_IDS, LAST_CHANNEL, SUMMARY_MODES, WAKE_MODES } from '../../action.ts';
import { singleQuoted, type Path, type Place } from '../../document/document.ts';
import { say } from '../../finding.ts';
import { quote, type MappingSubject } from '../../mapping/facts.ts';
import { MAPPING_KEYS } from '../../mapping/mapping.ts';
import { look, type Found } from '../rule.ts';

/** Texts that are written as blocks of lines. */
const TEXTS = ['messageTemplate', 'textTemplate', 'instructions'] as const;

/** A text of a mapping as it is written. */
interface Written {
  readonly key: (typeof TEXTS)[number];
  readonly at: Place;
  readonly written: string;
}

/** What is found in each text that is one. */
const inTexts =
  (find: (text: Written, subject: MappingSubject) => Found | undefined) =>
  (subject: MappingSubject): readonly Found[] =>
    TEXTS.filter((key) => typeof subject.source[key] === 'string').flatMap((key) => {
      const at = subject.located.place([key]);
      return find({ key, at, written: at.source.text.slice(at.start, at.end) }, subject) ?? [];
    });

/** Keys of the mapping that are indented as deep as the lines of a text above them, and so are a part of it. */
function keysInText(
  { key, at: text, written }: Written,
  { source, located }: MappingSubject,
): Found | undefined {
  const found = findKeys(text, written, source);
  if (found === undefined) return undefined;
  const { at, keys } = found;
  const { source: file, start } = located.place([key], 'key');
  const column = start - (file.text.lastIndexOf('\n', start - 1) + 1);
  const one = keys.length === 1;
  const lines = file.text.slice(at.start, at.end).split('\n');
  return {
    message: say`the last ${one ? 'line' : `${String(keys.length)} lines`} of ${key} ${one ? 'looks' : 'look'} like ${one ? 'a key' : 'keys'} of the mapping (${keys.map(quote).join(', ')}), and ${one ? 'is' : 'are'} sent as text`,
    at,
    hint: say`indent ${one ? 'it' : 'them'} as deep as ${key}${column === 0 ? ', which is not indented' : `, by ${String(column)} spaces`}; where it is meant as text, write another line below it`,
    edit: { at, text: lines.map((line) => ' '.repeat(column) + line.trimStart()).join('\n') },
  };
}

const LINE = /^[ \t]+([a-z][A-Za-z]*):[ \t]+(\S.*)$/;

/** The lines at the end of a block that have the form of keys, where one of them is surely meant so. */
function findKeys(
  { source: file, start }: Place,
  written: string,
  mapping: Readonly<Record<string, unknown>>,
): { readonly at: Place; readonly keys: readonly string[] } | undefined {
  if (!/^[|>]/.test(written)) return undefined;
  const body = written.trimEnd();
  const lines = body.split('\n');
  const keys: string[] = [];
  let isSure = false;
  let from = body.length;
  for (const line of lines.slice(1).toReversed()) {
    const [, key = '', value = ''] = LINE.exec(line.trimEnd()) ?? [];
    if (!MAPPING_KEYS.has(key) || mapping[key] !== undefined) break;
    keys.unshift(key);
    isSure ||= isSurely(key, value.replace(/\s+#.*$/, ''));
    from -= line.length + 1;
  }
  if (!isSure || keys.length === 0 || keys.length >= lines.length - 1) return undefined;
  return { at: { source: file, start: start + from + 1, end: start + body.length }, keys };
}

const CHANNELS: readonly string[] = [...CHANNEL_IDS, ...Object.keys(CHANNEL_ALIASES), LAST_CHANNEL];
const BOOLEAN = /^(?:true|false)$/;
const WITH_KEY = /^\{\s*key:/;

/** Values that no sentence to an agent has behind such a word. */
const SURE: Readonly<Record<string, RegExp | readonly string[]>> = {
  channel: CHANNELS,
  deliver: BOOLEAN,
  requireToken: BOOLEAN,
  dedupe: /^body$|^\{\s*key:/,
  debounce: WITH_KEY,
  sessionKey: /^["']?hook:/,
  wakeMode: WAKE_MODES,
  summary: SUMMARY_MODES,
  timeoutSeconds: /^\d+$/,
  limits: /^\{\s*\w+:/,
  verify: /^\{\s*scheme:/,
  otherwise: ['skip'],
};

function isSurely(key: string, value: string): boolean {
  const sure = Object.hasOwn(SURE, key) ? SURE[key] : undefined;
  return sure instanceof RegExp ? sure.test(value) : sure?.includes(value) === true;
}

/** Lists in a block that YAML folds: `>` joins its lines into one. */
function folded({ key, at: { source, start }, written }: Written): Found | undefined {
  if (!written.startsWith('>') || !hasFoldedList(written)) return undefined;
  const at: Place = { source, start, end: start + 1 };
  return {
    message: say`the lines of ${key} are a list, and ">" joins them into one line`,
    at,
    hint: say`write | in place of >: it keeps the lines as they are`,
    edit: { at, text: '|' },
  };
}

const ITEM = /^(?:[-*•] |\d{1,2}[.)] )/;
/** `Title: {{title}}`. */
const LABEL = /^\p{Lu}[\p{L} -]{0,30}: ?\{\{/u;
/** `By {{sender.login}}`: short, and ends with a value; a text of sentences has no three of them below each other. */
const OWN_LINE = /^\p{Lu}[^{}.!?]{0,30}\{\{[^{}]{1,40}\}\}$/u;
const EACH = /^\{\{~?#each\b[^{}]*\}\}$/;

/** Whether lines of a list are joined: two of them, or what a loop prints for each element. Deeper lines are kept. */
function hasFoldedList(written: string): boolean {
  const lines = written.split('\n').slice(1);
  const depthOf = (text: string): number => text.length - text.trimStart().length;
  const depth = Math.min(...lines.filter((each) => each.trim() !== '').map(depthOf));
  const joined = lines.map((each) => (depthOf(each) === depth ? each.trim() : ''));
  const isList = joined.filter((each) => ITEM.test(each)).length > 1;
  return joined.some((each, index) => {
    const [before = '', next = '', last = ''] = [joined[index - 1], joined[index + 1], joined[index + 2]];
    return (
      (isList && ITEM.test(each) && before !== '') ||
      (LABEL.test(each) && LABEL.test(next)) ||
      [each, next, last].every((line) => OWN_LINE.test(line)) ||
      (EACH.test(each) && isLine(next))
    );
  });
}

/** Whether a loop prints a line: not a lone value, or one with a comma behind it, which are meant to stand in a row. */
function isLine(text: string): boolean {
  if (ITEM.test(text)) return true;
  return text !== '' && !/^\{\{[^{}]*\}\}$|^\{\{#|[,;|]$|\{\{~?\/\w+~?\}\}$/.test(text);
}

/** Letters of a text that is written out. */
const MAX_SHOWN = 200;

/** Not a folder such as `C:\new`, nor a pattern of letters and digits. */
const hasLineEnd = (written: string): boolean =>
  /\\n(?![a-z])|(?<=\}\}|[.!?,)])\\n/.test(written) &&
  !/(?:[A-Za-z]:|\\\\)[^\s"']{0,100}\\n|\\[dswb]/.test(written);

/** `\n` in a text that YAML takes as it stands: only between double quotes it is the end of a line. */
function escapeNotRead({ key, at, written }: Written): Found | undefined {
  if (written.startsWith('"') || !hasLineEnd(written)) return undefined;
  const isBlock = /^[|>]/.test(written);
  const text = isBlock ? undefined : inDoubleQuotes(written);
  return {
    message: say`\\n in ${key} is a backslash and an n: YAML reads it as the end of a line only between double quotes`,
    at,
    hint: isBlock
      ? say`end the line there in place of \\n: a text that begins with | keeps its lines`
      : say`write ${text?.slice(0, MAX_SHOWN) ?? 'the text between double quotes'}, or its lines below a |`,
    ...(text === undefined ? {} : { edit: { at, text } }),
  };
}

/** The same text between double quotes, where no other sign in it would mean another thing there. */
function inDoubleQuotes(written: string): string | undefined {
  if (/\\(?!n)|\n/.test(written)) return undefined;
  const text = written.startsWith("'") ? written.slice(1, -1).replaceAll("''", "'") : written;
  return `"${text.replaceAll('"', String.raw`\"`)}"`;
}

/** Other texts with templates, each below its own keys; in these only a template behind the sign tells a cut. */
const SHORT_TEXTS: readonly Path[] = [
  ['name'],
  ['sessionKey'],
  ['to'],
  ['dedupe', 'key'],
  ['debounce', 'key'],
];
/** What people write behind a sign of a comment, also without a blank. */
const NOTE = /^#+(?:todo|fixme|note|nb|hack|xxx|noqa|nolint|yaml|region|endregion)\b/i;

/** Texts that YAML ends at ` #`, where a comment begins: `Ticket #{{id}}`. */
function cutByComment({ located }: MappingSubject): readonly Found[] {
  return [...TEXTS.map((key) => [key]), ...SHORT_TEXTS].flatMap((path): readonly Found[] => {
    const value = located.place(path);
    const isText = TEXTS.some((key) => key === path[0]);
    const cut = typeof located.at(path).value === 'string' ? findCut(value, isText) : undefined;
    if (cut === undefined) return [];
    const { at, whole, isSure } = cut;
    const text = singleQuoted(whole);
    const key = String(path.at(-1));
    return [
      {
        message: say`the value of ${key} ends before " #", which begins a comment in YAML: what follows is lost`,
        at,
        hint: say`put the whole value in quotes${whole.length > MAX_SHOWN ? '' : `: ${key}: ${text}`}`,
        ...(isSure ? { edit: { at: { ...value, end: at.end }, text } } : {}),
      },
    ];
  });
}

interface Cut {
  /** The comment. */
  readonly at: Place;
  /** The value with the comment, as it was meant. */
  readonly whole: string;
  readonly isSure: boolean;
}

/** A comment behind a plain value of one line that was meant as a part of it. */
function findCut({ source, start, end }: Place, isText: boolean): Cut | undefined {
  const value = source.text.slice(start, end).trimEnd();
  if (value === '' || /^["'|>]|\n/.test(value)) return undefined;
  const from = start + value.length;
  const newline = source.text.indexOf('\n', from);
  const rest = source.text.slice(from, newline === -1 ? undefined : newline).trimEnd();
  const comment = rest.trimStart();
  if (comment === rest || !comment.startsWith('#')) return undefined;
  const isJoined = /^#\w/.test(comment) && !NOTE.test(comment);
  const isUnfinished = value.includes('{{') || /[(,;:/&–-]$|\([^()]*$/.test(value);
  if (!comment.includes('{{') && !(isText && isJoined && isUnfinished)) return undefined;
  const at = { source, start: from + rest.length - comment.length, end: from + rest.length };
  return { at, whole: value + rest, isSure: comment.startsWith('#{{') };
}

/** Recipients that YAML reads as another number than is written: 0049… and +49… lose their beginning. */
function numberChanged({ located }: MappingSubject): readonly Found[] {
  return [['to'], ['fallback', 'to']].flatMap((path) => {
    const value: unknown = located.at(path).value;
    const at = located.place(path);
    const written = at.source.text.slice(at.start, at.end).trim();
    // One that has lost digits is an error already.
    if (typeof value !== 'number' || !Number.isSafeInteger(value) || written === String(value)) return [];
    return [
      {
        message: say`${path.join('.')} is the number ${value}, which YAML reads where ${written.slice(0, 40)} is written`,
        at,
        hint: say`put it in quotes: to: "${written.slice(0, 40)}"`,
        edit: { at, text: `"${written}"` },
      },
    ];
  });
}

export const TEXT_LOOKS = [
  look({ on: 'mapping', codes: ['KEYS_IN_TEXT'], find: inTexts(keysInText) }),
  look({ on: 'mapping', codes: ['LINES_FOLDED'], find: inTexts(folded) }),
  look({ on: 'mapping', codes: ['ESCAPE_NOT_READ'], find: inTexts(escapeNotRead) }),
  look({ on: 'mapping', codes: ['TEXT_CUT_BY_COMMENT'], find: cutByComment }),
  look({ on: 'mapping', codes: ['NUMBER_CHANGED'], find: numberChanged }),
];
