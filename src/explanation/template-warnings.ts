/* What `check` warns of in the templates that a request was printed with: the run shows what it made of them, too. */
import { inLine } from '../finding.ts';
import { formatPlace, type Finding } from '../document/document.ts';
import type { Evaluation } from '../hook/hook.ts';
import type { SettingText } from '../advice/requests.ts';

/** The findings on templates that were rendered, as hints on their keys. */
export function templateWarnings(
  { trace }: Evaluation,
  diagnostics: readonly Finding[],
): readonly SettingText[] {
  const found = diagnostics.filter(
    ({ severity, code, hint }) =>
      severity === 'warning' && code.startsWith('TEMPLATE_') && hint !== undefined,
  );
  return found.flatMap((warning): readonly SettingText[] => {
    const { at } = warning;
    const template = trace.templates.find(({ at: of }) => at !== undefined && holds(of, at));
    return at === undefined || template === undefined
      ? []
      : [{ setting: template.field, at: formatPlace(at), text: inLine(warning) }];
  });
}

type Place = NonNullable<Finding['at']>;

const holds = (whole: Place, part: Place): boolean =>
  whole.source.file === part.source.file && whole.start <= part.start && part.end <= whole.end;
