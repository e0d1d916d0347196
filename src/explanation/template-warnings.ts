/* What `check` warns of in the templates that a request was printed with: the run shows what it made of them, too. */
import { printInLine } from '../finding.ts';
import { formatPlace, type Finding } from '../document/document.ts';
import type { Evaluation } from '../hook/hook.ts';
import type { SettingNote } from './setting-notes.ts';

/** The findings on templates that were rendered, as hints on their keys. */
export function templateWarnings(
  { trace }: Evaluation,
  diagnostics: readonly Finding[],
): readonly SettingNote[] {
  const found = diagnostics.filter(
    ({ severity, code, hint }) =>
      severity === 'warning' && code.startsWith('TEMPLATE_') && hint !== undefined,
  );
  return found.flatMap((warning): readonly SettingNote[] => {
    const { at } = warning;
    const template = trace.templates.find(({ at: of }) => at !== undefined && holds(of, at));
    return at === undefined || template === undefined
      ? []
      : [{ setting: template.field, at: formatPlace(at), text: printInLine(warning) }];
  });
}

type Place = NonNullable<Finding['at']>;

const holds = (whole: Place, part: Place): boolean =>
  whole.source.file === part.source.file && whole.start <= part.start && part.end <= whole.end;
