/** Wraps CodeMirror with the findings of the service, and completion of what the service knows. */
import { autocompletion, type CompletionContext, type CompletionResult } from '@codemirror/autocomplete';
import { javascript } from '@codemirror/lang-javascript';
import { json } from '@codemirror/lang-json';
import { yaml } from '@codemirror/lang-yaml';
import { syntaxHighlighting } from '@codemirror/language';
import { type Action, lintGutter, setDiagnostics, type Diagnostic } from '@codemirror/lint';
import { Compartment, EditorState, type Extension } from '@codemirror/state';
import { EditorView, keymap } from '@codemirror/view';
import { classHighlighter } from '@lezer/highlight';
import { basicSetup } from 'codemirror';
import type { Completion, ShownFinding } from '../protocol.ts';
import { postJson } from './api.ts';
import { chosenRequest } from './author-store.ts';

export interface EditorOptions {
  readonly parent: HTMLElement;
  readonly onChange: (text: string) => void;
  readonly onSave: () => unknown;
}

export interface Editor {
  open(name: string, text: string): void;
  show(findings: readonly ShownFinding[]): void;
  /** Inserts a path of the request at the cursor, as the place wants it. */
  insertPath(path: string): void;
  goTo(finding: ShownFinding): void;
  /** Brings a 1-based line to the top. */
  goToLine(line: number): void;
  destroy(): void;
}

const THEME = EditorView.theme({
  '&': { height: '100%', backgroundColor: 'var(--panel)', color: 'var(--text)', fontSize: '13px' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.6' },
  '.cm-content': { caretColor: 'var(--accent)' },
  '.cm-cursor': { borderLeftColor: 'var(--accent)', borderLeftWidth: '2px' },
  '.cm-gutters': { backgroundColor: 'var(--panel)', color: 'var(--quiet)', border: '0' },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'var(--raised)' },
  '&.cm-focused .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'var(--accent-soft) !important',
  },
  '.cm-tooltip, .cm-panels': {
    backgroundColor: 'var(--panel)',
    color: 'var(--text)',
    border: '1px solid var(--line)',
  },
  '.cm-tooltip-autocomplete ul li[aria-selected]': {
    backgroundColor: 'var(--accent)',
    color: 'var(--on-accent)',
  },
  // The library's own marks are images in data addresses, which the page's policy refuses.
  '.cm-lintRange-error, .cm-lintRange-warning': {
    backgroundImage: 'none',
    textDecoration: 'underline wavy var(--red) 1px',
    textUnderlineOffset: '3px',
  },
  '.cm-lintRange-warning': { textDecorationColor: 'var(--amber)' },
  '.cm-lint-marker-error, .cm-lint-marker-warning': {
    content: 'none',
    width: '8px',
    height: '8px',
    margin: '6px 3px',
    borderRadius: '50%',
    backgroundColor: 'var(--red)',
  },
  '.cm-lint-marker-warning': { backgroundColor: 'var(--amber)' },
  '.cm-matchingBracket': { backgroundColor: 'var(--accent-soft) !important' },
});

export function createEditor(options: EditorOptions): Editor {
  const language = new Compartment();
  let fileName = '';
  const extensions = extensionsOf(options, { language: language.of([]), fileName: () => fileName });
  const view = new EditorView({ parent: options.parent, state: EditorState.create({ extensions }) });
  return {
    open(name, text) {
      fileName = name;
      view.setState(EditorState.create({ doc: text, extensions }));
      view.dispatch({ effects: language.reconfigure(languageOf(name)) });
    },
    show: (findings) => view.dispatch(setDiagnostics(view.state, toDiagnostics(view, fileName, findings))),
    insertPath: (path) => insertPath(view, path, fileName),
    goTo: (finding) => goTo(view, rangeOf(view, finding).from),
    goToLine: (line) => goToLine(view, line),
    destroy: () => view.destroy(),
  };
}

/** Extensions that come first have precedence. */
function extensionsOf(
  { onChange, onSave }: EditorOptions,
  { language, fileName }: { readonly language: Extension; readonly fileName: () => string },
): readonly Extension[] {
  const nonce = document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? '';
  return [
    EditorView.cspNonce.of(nonce),
    keymap.of([{ key: 'Mod-s', preventDefault: true, run: () => (onSave(), true) }]),
    basicSetup,
    syntaxHighlighting(classHighlighter),
    language,
    lintGutter(),
    autocompletion({ override: [(at) => complete(at, fileName())] }),
    EditorView.lineWrapping,
    EditorView.contentAttributes.of({ 'aria-label': 'The file', tabindex: '0' }),
    THEME,
    EditorView.updateListener.of((update) => {
      if (update.docChanged) onChange(update.state.doc.toString());
    }),
  ];
}

async function complete(
  { state, pos, explicit, aborted }: CompletionContext,
  file: string,
): Promise<CompletionResult | null> {
  const asked = { file, text: state.doc.toString(), pos, explicit, ...chosenRequest() };
  const found = await postJson<Completion>('/api/complete', asked).catch(() => undefined);
  if (found === undefined || found.options.length === 0 || aborted) return null;
  return { ...found, options: [...found.options], validFor: new RegExp(found.validFor) };
}

function insertPath(view: EditorView, path: string, fileName: string): void {
  const { from, to } = view.state.selection.main;
  const line = view.state.doc.lineAt(from);
  const insert = pathAs(path, line.text.slice(0, from - line.from), fileName);
  const selection = { anchor: from + insert.length };
  view.dispatch({ changes: { from, to, insert }, selection, scrollIntoView: true });
  view.focus();
}

function goTo(view: EditorView, anchor: number): void {
  view.dispatch({ selection: { anchor }, scrollIntoView: true });
  view.focus();
}

function goToLine(view: EditorView, line: number): void {
  const { from } = view.state.doc.line(Math.min(Math.max(line, 1), view.state.doc.lines));
  const effects = EditorView.scrollIntoView(from, { y: 'start', yMargin: 20 });
  view.dispatch({ selection: { anchor: from }, effects });
}

function languageOf(name: string): Extension {
  if (/\.ya?ml$/i.test(name)) return yaml();
  return /\.json$/i.test(name) ? json() : javascript({ typescript: /\.[mc]?ts$/i.test(name) });
}

/** Findings of other files are listed beside the editor. */
function toDiagnostics(view: EditorView, fileName: string, findings: readonly ShownFinding[]): Diagnostic[] {
  return findings
    .filter(({ file }) => file === fileName)
    .map((finding) => ({
      ...rangeOf(view, finding),
      severity: finding.severity,
      source: finding.code,
      message: [finding.message, finding.hint].filter(Boolean).join('\n'),
      ...(finding.edit && { actions: [fixOf(finding.edit)] }),
    }));
}

function rangeOf({ state: { doc } }: EditorView, place: ShownFinding): { from: number; to: number } {
  const { line = 1, column = 1, endLine = line, endColumn = column } = place;
  const at = (row: number, before: number): number => {
    const { from, length } = doc.line(Math.min(row, doc.lines));
    return from + Math.min(before - 1, length);
  };
  const from = at(line, column);
  return { from, to: Math.max(from, at(endLine, endColumn)) };
}

function fixOf({ from, to, text: insert }: NonNullable<ShownFinding['edit']>): Action {
  return { name: 'Fix', apply: (view) => view.dispatch({ changes: { from, to, insert } }) };
}

/** The path depends on the text before the cursor: inside `{{…}}`, as a variable of a condition, or as code. */
function pathAs(path: string, before: string, fileName: string): string {
  const keys = path.split('.');
  if (/\.[mc]?[jt]s$/i.test(fileName)) return keys.reduce(memberOf);
  if (/var["']?\s*:\s*["']?[\w.-]*$/.test(before)) return path;
  const short = keys[0] === 'payload' ? keys.slice(1) : keys;
  const written = short.map((key) => (/^[\w$-]+$/.test(key) ? key : `[${key}]`)).join('.') || 'payload';
  return before.lastIndexOf('{{') > before.lastIndexOf('}}') ? written : `{{${written}}}`;
}

function memberOf(object: string, key: string): string {
  if (/^\d+$/.test(key)) return `${object}[${key}]`;
  return /^[A-Za-z_$][\w$]*$/.test(key) ? `${object}.${key}` : `${object}[${JSON.stringify(key)}]`;
}
