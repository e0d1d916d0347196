import { say } from '../finding.ts';
import { CHANNEL_ALIASES, CHANNEL_IDS, LAST_CHANNEL, SUMMARY_MODES, WAKE_MODES } from '../action.ts';
import { withEdit, type LocatedValue, type Place } from '../document/document.ts';
import { quote, type MappingCode, type Reporter } from './mapping-codes.ts';
import { MappingSchema, type MappingSource } from './mapping-schema.ts';

/** Texts that are written as blocks of lines. */
export const TEXTS = ['messageTemplate', 'textTemplate', 'instructions'] as const;

/** A mapping whose texts are checked. */
export interface CheckedTexts {
  readonly source: MappingSource;
  readonly located: LocatedValue;
  readonly reporter: Reporter;
}

/** Keys of the mapping that are indented as deep as the lines of a text above them, and so are a part of it. */
export function checkTexts({ source, located, reporter }: CheckedTexts): void {
  for (const key of TEXTS) {
    if (typeof source[key] !== 'string') continue;
    const found = findKeys(located.place([key]), source);
    if (found === undefined) continue;
    const { at, keys } = found;
    const column = columnOf(located.place([key], 'key'));
    const one = keys.length === 1;
    reporter.diagnostics.push(
      withEdit(
        {
          severity: 'warning',
          code: 'KEYS_IN_TEXT' satisfies MappingCode,
          message: say`the last ${one ? 'line' : `${String(keys.length)} lines`} of ${key} ${one ? 'looks' : 'look'} like ${one ? 'a key' : 'keys'} of the mapping (${keys.map(quote).join(', ')}), and ${one ? 'is' : 'are'} sent as text`,
          at,
          hint: say`indent ${one ? 'it' : 'them'} as deep as ${key}${column === 0 ? ', which is not indented' : `, by ${String(column)} spaces`}; where it is meant as text, write another line below it`,
        },
        { at, text: dedented(at, column) },
      ),
    );
  }
}

const LINE = /^[ \t]+([a-z][A-Za-z]*):[ \t]+(\S.*)$/;

/** The lines at the end of a block that have the form of keys, where one of them is surely meant so. */
function findKeys(
  { source: file, start, end }: Place,
  mapping: MappingSource,
): { readonly at: Place; readonly keys: readonly string[] } | undefined {
  const written = file.text.slice(start, end);
  if (!/^[|>]/.test(written)) return undefined;
  const body = written.trimEnd();
  const lines = body.split('\n');
  const keys: string[] = [];
  let isSure = false;
  let from = body.length;
  for (const line of lines.slice(1).toReversed()) {
    const [, key = '', value = ''] = LINE.exec(line.trimEnd()) ?? [];
    if (!Object.hasOwn(MappingSchema.shape, key) || mapping[key as keyof MappingSource] !== undefined) break;
    keys.unshift(key);
    isSure ||= isSurely(key, value);
    from -= line.length + 1;
  }
  if (!isSure || keys.length === 0 || keys.length >= lines.length - 1) return undefined;
  return { at: { source: file, start: start + from + 1, end: start + body.length }, keys };
}

const CHANNELS: readonly string[] = [...CHANNEL_IDS, ...Object.keys(CHANNEL_ALIASES), LAST_CHANNEL];

/** Values that no sentence to an agent has behind such a word. */
const SURE: Readonly<Record<string, (value: string) => boolean>> = {
  channel: (value) => CHANNELS.includes(value),
  deliver: (value) => /^(?:true|false)$/.test(value),
  requireToken: (value) => /^(?:true|false)$/.test(value),
  dedupe: (value) => value === 'body' || /^\{\s*key:/.test(value),
  debounce: (value) => /^\{\s*key:/.test(value),
  sessionKey: (value) => /^["']?hook:/.test(value),
  wakeMode: (value) => WAKE_MODES.some((mode) => mode === value),
  summary: (value) => SUMMARY_MODES.some((mode) => mode === value),
  timeoutSeconds: (value) => /^\d+$/.test(value),
  limits: (value) => /^\{\s*\w+:/.test(value),
  verify: (value) => /^\{\s*scheme:/.test(value),
  otherwise: (value) => value === 'skip',
};

function isSurely(key: string, value: string): boolean {
  return Object.hasOwn(SURE, key) && SURE[key]?.(value.replace(/\s+#.*$/, '')) === true;
}

function columnOf({ source, start }: Place): number {
  return start - (source.text.lastIndexOf('\n', start - 1) + 1);
}

function dedented({ source, start, end }: Place, column: number): string {
  const lines = source.text.slice(start, end).split('\n');
  return lines.map((line) => ' '.repeat(column) + line.trimStart()).join('\n');
}
