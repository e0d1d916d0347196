/** What a mapping's texts and numbers say that was hardly meant: by how they are written, before anything is compiled. */
import { say } from '../finding.ts';
import { singleQuoted, withEdit, type LocatedValue, type Path } from '../document/document.ts';
import { checkComments } from './check-comments.ts';
import { checkEscapes } from './check-escapes.ts';
import { checkFolded } from './check-folded.ts';
import { checkReferences } from './check-references.ts';
import { checkTexts, type CheckedTexts } from './check-texts.ts';
import type { MappingEntry } from './compile-options.ts';
import { quote, type MappingCode } from './mapping-codes.ts';

type Checked = CheckedTexts & { readonly dialect: MappingEntry['dialect'] };

export function checkWritten(checked: Checked): void {
  checkTexts(checked);
  checkFolded(checked);
  checkEscapes(checked);
  checkComments(checked);
  checkReferences(checked);
  checkPaths(checked);
  checkNumbers(checked);
}

/** A field of the request, by what it begins with. */
const OF_REQUEST = /(?<![\w.{/-])(?:payload|headers|query|item|body)\.[\w-]+(?:\.[\w-]+)*/g;
/** The whole of a key that can only be meant as a field: its id, or a path. */
const FIELD = /^\$?\.?[a-z_]\w*(?:\.[\w-]+)+$|^(?:id|uuid|\w+_id|\w+Id)$/;

/** Keys that read the request only between braces: `dedupe: {key: event.id}` is the same for all requests. */
function checkPaths({ source, located, reporter, dialect }: Checked): void {
  if (dialect === 'openclaw') return;
  const { dedupe, debounce, sessionKey } = source;
  const { messageTemplate = '', textTemplate = '' } = source;
  const printed = `${messageTemplate}\n${textTemplate}`;
  const keys: readonly (readonly [Path, string | undefined, isWhole: boolean])[] = [
    [['dedupe', 'key'], typeof dedupe === 'object' ? dedupe.key : undefined, true],
    [['debounce', 'key'], debounce?.key, true],
    [['sessionKey'], sessionKey, false],
  ];
  for (const [path, text, isWhole] of keys) {
    const meant = text === undefined ? undefined : (withBraces(text, isWhole) ?? printedField(text, printed));
    if (text !== undefined && meant !== undefined) report({ located, reporter }, path, { text, meant });
  }
}

/** A single word that the texts of the mapping print as a field. */
function printedField(text: string, printed: string): string | undefined {
  const word = text.trim();
  if (!/^[A-Za-z_]\w{0,80}$/.test(word)) return undefined;
  const isField = new RegExp(String.raw`\{\{\s{0,9}(?:payload\.)?${word}\s{0,9}\}\}`).test(printed);
  return isField ? `{{${word}}}` : undefined;
}

function withBraces(text: string, isWhole: boolean): string | undefined {
  if (text.includes('{{')) return undefined;
  if (isWhole && FIELD.test(text.trim())) return `{{${text.trim().replace(/^\$?\.?(?:body\.)?/, '')}}}`;
  const meant = text.replaceAll(OF_REQUEST, (path) => `{{${path.replace(/^body\./, '')}}}`);
  return meant === text ? undefined : meant;
}

function report(
  { located, reporter }: Pick<Checked, 'located' | 'reporter'>,
  path: Path,
  { text, meant }: { readonly text: string; readonly meant: string },
): void {
  const key = path.join('.');
  const at = located.place(path);
  const quoted = singleQuoted(meant);
  const isOneLine = !at.source.text.slice(at.start, at.end).includes('\n');
  reporter.diagnostics.push(
    withEdit(
      {
        severity: 'warning',
        code: 'PATH_WITHOUT_BRACES' satisfies MappingCode,
        message: say`${key} is the text ${quote(text)} for every request: a field is read only between braces`,
        at,
        hint: say`write ${String(path.at(-1))}: ${quoted}`,
      },
      isOneLine ? { at, text: quoted } : undefined,
    ),
  );
}

/** Recipients that YAML reads as another number than is written: 0049… and +49… lose their beginning. */
function checkNumbers({ located, reporter }: Checked): void {
  for (const path of [['to'], ['fallback', 'to']] as const) {
    const value: unknown = located.at(path).value;
    const written = writtenAt(located, path);
    // One that has lost digits is an error already.
    if (typeof value !== 'number' || !Number.isSafeInteger(value) || written === String(value)) continue;
    reporter.diagnostics.push(
      withEdit(
        {
          severity: 'warning',
          code: 'NUMBER_CHANGED' satisfies MappingCode,
          message: say`${path.join('.')} is the number ${value}, which YAML reads where ${written.slice(0, 40)} is written`,
          at: located.place(path),
          hint: say`put it in quotes: to: "${written.slice(0, 40)}"`,
        },
        { at: located.place(path), text: `"${written}"` },
      ),
    );
  }
}

function writtenAt(located: LocatedValue, path: Path): string {
  const { source, start, end } = located.place(path);
  return source.text.slice(start, end).trim();
}
