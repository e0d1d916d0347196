/**
 * The language server: findings as you type, completion, hover, and the changes that findings
 * propose, for any editor that speaks the Language Server Protocol. It reads files and serves nothing.
 */
import { resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { TextDocument } from 'vscode-languageserver-textdocument';
import {
  type CodeAction,
  type CodeActionParams,
  CodeActionKind,
  type CompletionItem,
  CompletionItemKind,
  type Connection,
  createConnection,
  type Diagnostic,
  DiagnosticSeverity,
  DidChangeWatchedFilesNotification,
  type Hover,
  type InitializeParams,
  type InitializeResult,
  type Range,
  type ServerCapabilities,
  StreamMessageReader,
  StreamMessageWriter,
  type TextDocumentPositionParams,
  TextDocuments,
  TextDocumentSyncKind,
  type WorkspaceEdit,
} from 'vscode-languageserver/node';
import {
  completeAt,
  hoverText,
  type LoadedProject,
  type Project,
} from '../../authoring/workbench/workbench.ts';
import type { OpenTexts } from '../../base/document/document.ts';
import { type Finding, printSentence, type TextEdit } from '../../base/finding.ts';
import { defined } from '../../base/json.ts';

export interface LanguageServerOptions {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
  /** Opens the project of a folder; undefined where it has no configuration. */
  openProject(folder: string): Project | undefined;
}

/** Resolves when the editor ends the server; the protocol's library then ends the process. */
export function runLanguageServer(options: LanguageServerOptions): Promise<void> {
  return new LanguageServer(options).listen();
}

const MAX_TITLE = 120;

const SEVERITY = {
  error: DiagnosticSeverity.Error,
  warning: DiagnosticSeverity.Warning,
  note: DiagnosticSeverity.Information,
} as const;

const COMPLETION_KIND = {
  constant: CompletionItemKind.Constant,
  enum: CompletionItemKind.EnumMember,
  function: CompletionItemKind.Function,
  keyword: CompletionItemKind.Snippet,
  property: CompletionItemKind.Property,
  variable: CompletionItemKind.Variable,
} as const;

const CAPABILITIES: ServerCapabilities = {
  textDocumentSync: { openClose: true, change: TextDocumentSyncKind.Incremental, save: true },
  completionProvider: { triggerCharacters: ['{', '.', '"', "'", ' '] },
  hoverProvider: true,
  codeActionProvider: { codeActionKinds: [CodeActionKind.QuickFix] },
};

class LanguageServer {
  readonly #connection: Connection;
  readonly #documents = new TextDocuments(TextDocument);
  readonly #options: LanguageServerOptions;
  readonly #open = { texts: new Map<string, string>(), parsed: new Map() } satisfies OpenTexts;
  #project: Project | undefined;
  #watches = false;
  #loaded: LoadedProject = { findings: [], mappings: [], samples: [] };
  /** Shown findings by the address of their file. */
  #shown = new Map<string, readonly Finding[]>();
  #isFresh = true;
  #isWanted = false;
  #judging: Promise<void> | undefined;

  constructor(options: LanguageServerOptions) {
    this.#options = options;
    const { input, output } = options;
    this.#connection = createConnection(new StreamMessageReader(input), new StreamMessageWriter(output));
  }

  listen(): Promise<void> {
    const connection = this.#connection;
    const documents = this.#documents;
    connection.onInitialize((params) => this.#initialize(params));
    connection.onInitialized(() => this.#begin());
    connection.onCompletion((params) => this.#complete(params));
    connection.onHover((params) => this.#hover(params));
    connection.onCodeAction((params) => this.#actions(params));
    connection.onDidChangeWatchedFiles(() => void this.#judge(true));
    connection.onShutdown(() => this.#stop());
    documents.onDidChangeContent(({ document }) => this.#edit(document.uri, document.getText()));
    documents.onDidClose(({ document }) => this.#edit(document.uri, undefined));
    documents.onDidSave(({ document }) => void this.#judge(!/\.(?:ya?ml|json5?)$/.test(document.uri)));
    documents.listen(connection);
    return new Promise((ended) => {
      connection.onExit(ended);
      connection.listen();
    });
  }

  async #stop(): Promise<void> {
    this.#isWanted = false;
    await this.#judging;
    await this.#project?.close();
  }

  #initialize({ workspaceFolders, rootUri, capabilities }: InitializeParams): InitializeResult {
    const folder = workspaceFolders?.[0]?.uri ?? rootUri ?? pathToFileURL(process.cwd()).href;
    const path = fileURLToPath(folder);
    this.#watches = capabilities.workspace?.didChangeWatchedFiles?.dynamicRegistration === true;
    this.#project = this.#options.openProject(path);
    if (this.#project === undefined)
      this.#connection.window.showWarningMessage(
        `there is no sluice.yaml in ${path}; name one with sluice lsp -c FILE`,
      );
    return { capabilities: CAPABILITIES, serverInfo: { name: 'sluice' } };
  }

  /** Editors report files that others change only where they are asked to. */
  #begin(): void {
    const watchers = [{ globPattern: '**/*.{yaml,yml,json,json5,ts,js,mjs,cjs}' }];
    if (this.#watches)
      void this.#connection.client.register(DidChangeWatchedFilesNotification.type, { watchers });
    void this.#judge();
  }

  #edit(uri: string, text: string | undefined): void {
    if (!uri.startsWith('file:')) return;
    if (text === undefined) this.#open.texts.delete(fileURLToPath(uri));
    else this.#open.texts.set(fileURLToPath(uri), text);
    void this.#judge();
  }

  /** Judges once more after the judgement that is under way: what was typed in between counts together. */
  #judge(isFresh = false): Promise<void> {
    this.#isFresh ||= isFresh;
    this.#isWanted = true;
    this.#judging ??= this.#judgeUntilDone().finally(() => {
      this.#judging = undefined;
    });
    return this.#judging;
  }

  async #judgeUntilDone(): Promise<void> {
    while (this.#isWanted && this.#project !== undefined) {
      const isFresh = this.#isFresh;
      this.#isWanted = false;
      this.#isFresh = false;
      try {
        // Each judgement covers what was typed up to the one before.
        for await (const loaded of this.#project.load(this.#open, isFresh)) {
          this.#loaded = loaded;
          this.#show(this.#project.configFile);
          if (!this.#isWanted) continue;
          this.#isFresh ||= isFresh;
          break;
        }
      } catch (error) {
        this.#connection.console.warn(String(error));
      }
    }
  }

  /** Findings that belong to no file stand at the beginning of the configuration. */
  #show(configFile: string): void {
    const before = this.#shown;
    this.#shown = Map.groupBy(
      this.#loaded.findings,
      ({ at }) => pathToFileURL(resolve(at?.source.file ?? configFile)).href,
    );
    for (const uri of new Set([...before.keys(), ...this.#shown.keys()])) {
      const diagnostics = (this.#shown.get(uri) ?? []).map(diagnosticOf);
      void this.#connection.sendDiagnostics({ uri, diagnostics });
    }
  }

  /** Returns undefined for a file that is not open. */
  #at({ textDocument: { uri }, position }: TextDocumentPositionParams) {
    const document = this.#documents.get(uri);
    if (document === undefined || !uri.startsWith('file:')) return undefined;
    const [text, pos] = [document.getText(), document.offsetAt(position)];
    const { samples, mappings } = this.#loaded;
    const known = {
      requests: samples.map(({ request }) => request),
      hookNames: mappings.flatMap(({ match }) => match.path ?? []),
    };
    return { document, fileName: fileURLToPath(uri), text, pos, explicit: true, known };
  }

  #complete(params: TextDocumentPositionParams): CompletionItem[] {
    const here = this.#at(params);
    const offer = here && completeAt(here, here.known);
    if (here === undefined || !offer) return [];
    const start = here.document.positionAt(offer.from);
    return offer.options.map(({ label, type, detail, info, apply = label }) => ({
      label,
      kind: COMPLETION_KIND[type],
      ...defined({ detail, documentation: info }),
      textEdit: { range: { start, end: params.position }, newText: apply },
    }));
  }

  #hover(params: TextDocumentPositionParams): Hover | null {
    const here = this.#at(params);
    const value = here && hoverText(here, here.known);
    return value === undefined ? null : { contents: { kind: 'plaintext', value } };
  }

  #actions({ textDocument: { uri }, range }: CodeActionParams): CodeAction[] {
    return (this.#shown.get(uri) ?? []).flatMap((finding) => {
      const { edit, hint, message } = finding;
      const diagnostic = diagnosticOf(finding);
      const { start, end } = diagnostic.range;
      if (edit === undefined || start.line > range.end.line || end.line < range.start.line) return [];
      return [
        {
          title: printSentence(hint ?? message).slice(0, MAX_TITLE),
          kind: CodeActionKind.QuickFix,
          diagnostics: [diagnostic],
          edit: { changes: changesOf([edit]) },
        },
      ];
    });
  }
}

function rangeOf(text: string, start: number, end: number): Range {
  const document = TextDocument.create('', '', 0, text);
  return { start: document.positionAt(start), end: document.positionAt(end) };
}

function changesOf(edits: readonly TextEdit[]): NonNullable<WorkspaceEdit['changes']> {
  const byFile = Map.groupBy(edits, ({ at: { source } }) => pathToFileURL(resolve(source.file)).href);
  const changes = [...byFile].map(([uri, ofFile]) => [
    uri,
    ofFile.map(({ at, text }) => ({ range: rangeOf(at.source.text, at.start, at.end), newText: text })),
  ]);
  return Object.fromEntries(changes);
}

function diagnosticOf({ severity, code, message, hint, at, isGeneral }: Finding): Diagnostic {
  const said = printSentence(message);
  return {
    range: at === undefined ? rangeOf('', 0, 0) : rangeOf(at.source.text, at.start, at.end),
    severity: isGeneral === true ? SEVERITY.note : SEVERITY[severity],
    code,
    source: 'sluice',
    message: hint === undefined ? said : `${said}\n${printSentence(hint)}`,
  };
}
