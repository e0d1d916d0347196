/*
 * `# sluice-ignore CODE: reason` on the line before a finding says that it is meant, in YAML; in JSON5 the comment begins
 * with `//`. An error, and what is about safety, cannot be meant.
 */
import { say, type Finding, type Place, type SourceText } from './finding.ts';

const COMMENT = /^([ \t]*)(#|\/\/) sluice-ignore\b[ \t]*([A-Z_0-9]*)[ \t]*(?::[ \t]*(.*?))?[ \t]*$/gm;

/** Found by samples, which are not read with the files. */
const OF_SAMPLES: ReadonlySet<string> = new Set(
  'TEMPLATE_UNKNOWN_PATH CONDITION_UNKNOWN_PATH CONDITION_UNKNOWN_VALUE'.split(' '),
);

export interface IgnoredFinding {
  readonly finding: Finding;
  readonly reason: string;
}

interface Comment {
  readonly at: Place;
  readonly code: string;
  readonly reason: string;
  readonly line: { readonly start: number; readonly end: number };
}

export interface SiftedFindings {
  readonly findings: readonly Finding[];
  readonly ignored: readonly IgnoredFinding[];
}

/** The findings without those that are meant; `files` are all that were looked at, for comments that are of no use. */
export function siftIgnored(found: readonly Finding[], files: Iterable<SourceText> = []): SiftedFindings {
  const byFile = new Map<string, readonly Comment[]>();
  const commentsOf = (source: SourceText): readonly Comment[] => {
    const known = byFile.get(source.file) ?? commentsIn(source);
    byFile.set(source.file, known);
    return known;
  };
  /** Comments with the finding that each is about. */
  const used = new Map<Comment, Finding>();
  const ignored: IgnoredFinding[] = [];
  const findings = found.filter((finding) => {
    const comment = finding.at && commentsOf(finding.at.source).find((each) => isAbout(each, finding));
    if (comment === undefined) return true;
    used.set(comment, finding);
    if (finding.severity === 'error' || finding.isOfSafety === true || comment.reason === '') return true;
    ignored.push({ finding, reason: comment.reason });
    return false;
  });
  // A file that is refused is often not looked at to its end.
  const isWhole = !found.some(({ severity }) => severity === 'error');
  const all = [...new Map([...files].map((each) => [each.file, each])).values()].flatMap(commentsOf);
  return {
    findings: [...findings, ...all.flatMap((each) => problemOf(each, used.get(each), isWhole))],
    ignored,
  };
}

function commentsIn(source: SourceText): readonly Comment[] {
  const { text, file } = source;
  if (!text.includes('sluice-ignore')) return [];
  const sign = /\.ya?ml$/i.test(file) ? '#' : '//';
  return [...text.matchAll(COMMENT)].flatMap(
    ({ 0: whole, 1: indent = '', 2: written, 3: code = '', 4: reason = '', index }): readonly Comment[] => {
      if (written !== sign) return [];
      // Several comments may stand above one line.
      const rest = /^(?:.*\n)(?:[ \t]*(?:#|\/\/) sluice-ignore.*\n)*/.exec(text.slice(index))?.[0] ?? whole;
      const start = index + rest.length;
      const end = text.indexOf('\n', start);
      const at = { source, start: index + indent.length, end: index + whole.length };
      return [{ at, code, reason, line: { start, end: end === -1 ? text.length : end } }];
    },
  );
}

const isAbout = ({ code, line }: Comment, { code: own, at }: Finding): boolean =>
  at !== undefined && own === code && line.start <= at.start && at.start <= line.end;

function problemOf(
  { at, code, reason }: Comment,
  meant: Finding | undefined,
  isWhole: boolean,
): readonly Finding[] {
  const finding = { severity: 'warning', code: 'IGNORE_COMMENT', at } as const;
  if (code === '' || reason === '')
    return [
      {
        ...finding,
        message: say`the comment does not say ${code === '' ? 'which finding is meant' : 'why the finding is meant'}`,
        hint: say`write the code of the finding and a reason behind a colon: sluice-ignore CODE: reason`,
      },
    ];
  if (meant?.isOfSafety === true)
    return [
      {
        ...finding,
        message: say`${code} is about safety, and is never left out`,
        hint: say`remove the comment, and mend what it is about`,
      },
    ];
  if (meant !== undefined || !isWhole || OF_SAMPLES.has(code)) return [];
  return [
    {
      ...finding,
      message: say`${code} is not found on the line behind the comment`,
      hint: say`remove the comment, or move it before the line of the finding`,
    },
  ];
}
