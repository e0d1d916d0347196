/* What `check` warns of in the templates that a request was printed with: the run shows what it made of them, too. */
import { formatPlace, type Diagnostic } from '../document/document.ts';
import type { Evaluation } from '../hook/hook.ts';
import type { SettingNote } from './setting-notes.ts';

/** The findings on templates that were rendered, as hints on their keys. */
export function templateWarnings(
  { trace }: Evaluation,
  diagnostics: readonly Diagnostic[],
): readonly SettingNote[] {
  const found = diagnostics.filter(
    ({ severity, code, hint }) =>
      severity === 'warning' && code.startsWith('TEMPLATE_') && hint !== undefined,
  );
  return found.flatMap(({ at, message, hint = '' }): readonly SettingNote[] => {
    const template = trace.templates.find(({ at: of }) => at !== undefined && holds(of, at));
    return at === undefined || template === undefined
      ? []
      : [{ setting: template.field, at: formatPlace(at), text: `${message}; ${hint}` }];
  });
}

type Place = NonNullable<Diagnostic['at']>;

const holds = (whole: Place, part: Place): boolean =>
  whole.source.file === part.source.file && whole.start <= part.start && part.end <= whole.end;
