import { say } from '../finding.ts';
import type { MappingEntry } from './compile-options.ts';
import { quote, type Reporter } from './mapping-codes.ts';
import type { MappingSource } from './mapping-schema.ts';

/** A reference as the configuration takes it. */
const REFERENCE = /\$\{([A-Za-z_]\w*)\}/;

/** Whether a text holds a reference, which mappings do not replace. */
export function holdsReference(text: string | undefined): boolean {
  return text !== undefined && REFERENCE.test(text);
}

interface Checked {
  readonly source: MappingSource;
  readonly reporter: Reporter;
  readonly dialect: MappingEntry['dialect'];
}

/** Keys whose text is a name or a key, so that a reference in it can only be meant as one. */
export function checkReferences({ source, reporter, dialect }: Checked): void {
  if (dialect === 'openclaw') return;
  const { channel, to, model, sessionKey, thinking, dedupe, debounce, maxRuns } = source;
  const texts: readonly (readonly [readonly string[], string | undefined])[] = [
    [['channel'], channel],
    [['to'], to === undefined ? undefined : String(to)],
    [['model'], model],
    [['sessionKey'], sessionKey],
    [['thinking'], thinking],
    [['dedupe', 'key'], typeof dedupe === 'object' ? dedupe.key : undefined],
    [['debounce', 'key'], debounce?.key],
    [['maxRuns', 'key'], typeof maxRuns === 'object' ? maxRuns.key : undefined],
  ];
  for (const [path, text] of texts) {
    if (!holdsReference(text)) continue;
    const key = path.join('.');
    reporter.report(path, {
      code: 'REFERENCE_NOT_REPLACED',
      message: say`${key} is the text ${quote(text ?? '')} as it stands: a reference is replaced in sluice.yaml, and in a mapping only in verify, challenge and callbackUrl`,
      hint: say`write the text itself; a value of the request is {{name}}, and a reference to a recipient or a model can stand in sluice.yaml, at the channel or the runner`,
    });
  }
}
