/** Differences as people read them: what must not be, case by case; the rest in groups that are alike. */
import { type Difference, isStrict } from './classify.ts';

const MAX_STRICT = 200;

export function report(differences: readonly Difference[]): {
  readonly strict: string;
  readonly review: string;
} {
  const strict = differences.filter(isStrict);
  const loose = differences.filter((each) => !isStrict(each));
  return {
    strict: strictText(strict),
    review: `# Differences for a reader\n\n${countsOf(loose)}\n${groupsOf(loose)}`,
  };
}

function strictText(strict: readonly Difference[]): string {
  if (strict.length === 0) return 'code, place and fix: equal';
  const lines = strict
    .slice(0, MAX_STRICT)
    .map(
      ({ kind, case: name, code, before, after }) =>
        `${kind}  ${name}  ${code}\n  - ${indented(before)}\n  + ${indented(after)}`,
    );
  const more = strict.length > MAX_STRICT ? [`… and ${String(strict.length - MAX_STRICT)} more`] : [];
  return [
    ...lines,
    ...more,
    `code, place and fix: ${String(strict.length)} differences`,
    countsOf(strict),
  ].join('\n');
}

const indented = (text: string): string => shortened(text).replaceAll('\n', '\n    ');

const MAX_SHOWN = 600;
const shortened = (text: string): string =>
  text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN)}…`;

/** How many of each kind and code. */
function countsOf(differences: readonly Difference[]): string {
  const counts = new Map<string, number>();
  for (const { kind, code } of differences) {
    const key = `| ${kind} | ${code} |`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  const rows = [...counts]
    .toSorted(([, a], [, b]) => b - a)
    .map(([key, count]) => `${key} ${String(count)} |`);
  return ['| what | code | cases |', '|---|---|---|', ...rows, ''].join('\n');
}

/** One example of each group: differences that are alike but for names, numbers and what stands in quotes. */
function groupsOf(differences: readonly Difference[]): string {
  const groups = new Map<string, Difference[]>();
  for (const each of differences) {
    const key = [each.kind, each.code, skeleton(each.before), skeleton(each.after)].join('\n');
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [each]);
    else group.push(each);
  }
  const ordered = [...groups.values()].toSorted((a, b) => b.length - a.length);
  return ordered
    .map((group) => {
      const [{ kind, code, case: name, before, after }] = group as [Difference];
      const how = `${String(group.length)} × ${kind} ${code}, e.g. ${name}`;
      return `## ${how}\n\n\`\`\`diff\n${marked('-', before)}\n${marked('+', after)}\n\`\`\`\n`;
    })
    .join('\n');
}

const marked = (mark: string, text: string): string =>
  shortened(text)
    .split('\n')
    .map((line) => `${mark} ${line}`)
    .join('\n');

function skeleton(text: string): string {
  return text.replaceAll(/"[^"\n]*"|'[^'\n]*'|\{.*\}|[\w./-]+[._/:][\w./:-]*|\d+/g, '#').slice(0, MAX_SHOWN);
}
