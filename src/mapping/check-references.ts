import { quoted, say } from '../finding.ts';
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

/** What to write in place of a reference, by the key. */
const INSTEAD: Readonly<Record<string, (reference: string, source: MappingSource) => string>> = {
  channel: () => 'write the name of the channel itself',
  to: (reference, { channel }) => {
    const name = /^[a-z]+$/.test(channel ?? '') ? channel : 'NAME';
    return `put channels.${name}.to: ${reference} into sluice.yaml, and remove "to" here`;
  },
  model: (reference) =>
    `write the name of the model itself; or put model: ${reference} at the runner in sluice.yaml, and remove it here`,
};

/** Keys whose text is a name or a key, so that a reference in it can only be meant as one. */
export function checkReferences({ source, reporter, dialect }: Checked): void {
  if (dialect === 'openclaw') return;
  const { channel, to, model, sessionKey, thinking, dedupe, debounce } = source;
  const texts: readonly (readonly [readonly string[], string | undefined])[] = [
    [['channel'], channel],
    [['to'], to === undefined ? undefined : String(to)],
    [['model'], model],
    [['sessionKey'], sessionKey],
    [['thinking'], thinking],
    [['dedupe', 'key'], typeof dedupe === 'object' ? dedupe.key : undefined],
    [['debounce', 'key'], debounce?.key],
  ];
  for (const [path, text] of texts) {
    const [reference] = REFERENCE.exec(text ?? '') ?? [];
    if (reference === undefined) continue;
    const key = path.join('.');
    const instead =
      INSTEAD[key]?.(reference, source) ?? 'write the text itself; a value of the request is {{name}}';
    reporter.report(path, {
      code: 'REFERENCE_NOT_REPLACED',
      message: say`${key} is the text ${quote(text ?? '')} as it stands: a reference is replaced in sluice.yaml, and in a mapping only in verify, challenge and callbackUrl`,
      hint: quoted(instead),
    });
  }
}
