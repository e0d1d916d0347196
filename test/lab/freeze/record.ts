/**
 * What the freeze keeps of one case: its findings as data, what became of it, and the texts that a person reads. All of it
 * without this run's own marks (folders, ids, times), so that two runs of the same code write the same bytes.
 */
export interface FrozenFinding {
  /** The command that said it, e.g. `check` or `explain`. */
  readonly by: string;
  readonly code: string;
  /** `file:line:column`, then what else says where: the key, the setting, the element. */
  readonly place: string;
  readonly severity?: string;
  /** Who may read it, and how sure it is, where the finding says so. */
  readonly audience?: string;
  /** What a fix writes, and where; of a hint without data: what it says is to be written. */
  readonly fix: readonly string[];
  /** Message and hint. */
  readonly text: string;
}

export interface FrozenCase {
  readonly case: string;
  readonly findings: readonly FrozenFinding[];
  /** What must not change: exit codes, outcome of a request, verdict of a proof. */
  readonly facts: Readonly<Record<string, unknown>>;
  /** Files as `check --fix` left them, by name. */
  readonly mended: Readonly<Record<string, string>>;
  /** What was printed, by command line. */
  readonly texts: Readonly<Record<string, string>>;
}

/** A case that is being recorded. */
export class CaseRecord {
  readonly findings: FrozenFinding[] = [];
  readonly facts: Record<string, unknown> = {};
  readonly mended: Record<string, string> = {};
  readonly texts: Record<string, string> = {};
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }

  /** One line of the family's file. */
  toLine(clean: (text: string) => string): string {
    const { name, findings, facts, mended, texts } = this;
    return clean(JSON.stringify({ case: name, findings, facts, mended, texts } satisfies FrozenCase));
  }
}

type Json = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * The findings in any JSON that a command prints: each object with a code and a text, wherever it stands. What a
 * request holds is no finding, whatever it looks like.
 */
export function findingsIn(by: string, value: unknown): readonly FrozenFinding[] {
  if (Array.isArray(value)) return value.flatMap((each) => findingsIn(by, each));
  if (!isObject(value)) return [];
  const own = isFinding(value) ? [findingOf(by, value)] : [];
  const inner = Object.entries(value).filter(([key]) => !NOT_READ.has(key));
  return [...own, ...inner.flatMap(([, each]) => findingsIn(by, each))];
}

/** Members that hold what came from outside, or what a finding holds itself. */
const NOT_READ: ReadonlySet<string> = new Set([
  'request',
  'payload',
  'actions',
  'templates',
  'labels',
  'fix',
  'edit',
  'also',
  'facts',
  'alternatives',
  'origin',
]);

function isFinding(value: Json): boolean {
  const { code, text, message, detail, hint } = value;
  return typeof code === 'string' && [text, message, detail, hint].some((each) => each !== undefined);
}

function findingOf(by: string, value: Json): FrozenFinding {
  const { code, severity, audience, confidence, text, message, detail, hint } = value;
  const said = [text, message, detail, hint].filter((each) => typeof each === 'string').join('; ');
  return {
    by,
    code: String(code),
    place: placeOf(value),
    ...(typeof severity === 'string' ? { severity } : {}),
    ...(audience === undefined && confidence === undefined
      ? {}
      : { audience: wordsIn([audience, confidence]).join(', ') }),
    fix: fixOf(value, said),
    text: said,
  };
}

function placeOf(value: Json): string {
  const { at, file, line, column, field, setting, index, mapping } = value;
  const place =
    typeof at === 'string' ? at : file === undefined ? '' : wordsIn([file, line, column]).join(':');
  const whose = place === '' && isObject(mapping) ? `of ${String(mapping['id'])}` : '';
  return [place, whose, ...wordsIn([field, setting, index])].filter((each) => each !== '').join(' ');
}

/** A fix as data wherever there is one, else what the hint says is to be written. */
function fixOf(value: Json, said: string): readonly string[] {
  const data = [value['edit'], value['also'], value['fix']].flatMap(textsOfFix);
  return data.length > 0 ? data : writtenIn(said);
}

function textsOfFix(fix: unknown): readonly string[] {
  if (typeof fix === 'string') return [fix];
  if (Array.isArray(fix)) return fix.flatMap(textsOfFix);
  if (!isObject(fix)) return [];
  if (typeof fix['text'] === 'string') return [fix['text']];
  return Object.entries(fix).flatMap(([key, each]) => (key === 'at' ? [] : textsOfFix(each)));
}

/** The word before what is to be pasted, in every hint of ours. */
const WRITE = /\b[Ww]rite ((?:(?!\b[Ww]rite ).)+)/gs;

function writtenIn(said: string): readonly string[] {
  return [...said.matchAll(WRITE)].map(([, text = '']) => text.replace(/[.;,\s]+$/, ''));
}

/** The words and numbers of a list; what is absent or no word is left out. */
const wordsIn = (values: readonly unknown[]): readonly string[] =>
  values.flatMap((each) => (typeof each === 'string' || typeof each === 'number' ? [String(each)] : []));

/** Takes out what differs from run to run. */
export function cleaner(folders: readonly string[]): (text: string) => string {
  return (text) => {
    const ids = new Map<string, string>();
    return folders
      .reduce((rest, folder) => rest.replaceAll(`${folder}/`, '').replaceAll(folder, '.'), text)
      .replaceAll(/\b(sluice-[a-z]+|case)-[A-Za-z0-9]{6}\b/g, '$1')
      .replaceAll(
        UUID,
        (id) => ids.get(id) ?? (ids.set(id, `ID-${String(ids.size + 1)}`), `ID-${String(ids.size)}`),
      );
  };
}

// In JSON a line feed before it is the letter n.
const UUID = /(?<![0-9a-f-])[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g;

/** Times, spans and sizes of this machine and this minute. */
export function withoutClock(text: string): string {
  return text
    .replaceAll(/\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, 'TIME')
    .replaceAll(/\b20\d\d-\d\d-\d\d \d\d:\d\d(?::\d\d)?\b/g, 'TIME')
    .replaceAll(/\b\d+(?:\.\d+)? (?:ms|s|min|h|d|hours|days|seconds|minutes)\b(?: \d+ h)?/g, 'SPAN')
    .replaceAll(/\b\d+(?:\.\d+)? [KMGT]?i?B\b/g, 'SIZE')
    .replaceAll(/ {2,}/g, '  ');
}
