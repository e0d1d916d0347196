import { mapSentence } from '../../base/finding.ts';
import { hideTokens, type Finding } from '../../base/document/document.ts';

/** Stands where a finding would quote what a reference leads to; the source line beside it shows the reference. */
const HIDDEN = '[value of a reference]';
/** Shorter values are parts of words and numbers. */
const MIN_CHARS = 3;
/** The least that findings show of a longer value. */
const CUT_CHARS = 60;

/**
 * Findings quote the file, never what its references lead to: a value may be a secret whatever its key is called, and
 * findings end up in logs of CI. What looks like a token is quoted from no place.
 */
export function hideValues(findings: readonly Finding[], values: readonly string[]): readonly Finding[] {
  const patterns = patternsOf(values);
  const hide = (text: string): string =>
    hideTokens(patterns.reduce((left, pattern) => left.replaceAll(pattern, HIDDEN), text));
  return findings.map((finding) => hideIn(finding, hide));
}

/** What the values look like in findings. */
function patternsOf(values: readonly string[]): readonly RegExp[] {
  return (
    [...new Set(values)]
      // A reference that leads nowhere stands for itself.
      .filter((value) => value.length >= MIN_CHARS && !value.includes('${'))
      // The longest first, so that a value inside another one leaves no rest of it.
      .toSorted((a, b) => b.length - a.length)
      // Findings cut long values, and quote some of them.
      .flatMap((value) => [
        ...(value.length > CUT_CHARS ? [`${escape(value.slice(0, CUT_CHARS))}\\S*`] : []),
        escape(value),
        escape(JSON.stringify(value).slice(1, -1)),
      ])
      .map((value) => new RegExp(`(?<![\\p{L}\\p{N}])${value}(?![\\p{L}\\p{N}])`, 'gu'))
  );
}

function hideIn(finding: Finding, hide: (text: string) => string): Finding {
  const { message, hint, labels } = finding;
  return {
    ...finding,
    message: mapSentence(message, hide),
    ...(hint && { hint: mapSentence(hint, hide) }),
    ...(labels && { labels: labels.map(({ at, text }) => ({ at, text: mapSentence(text, hide) })) }),
  };
}

function escape(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}
