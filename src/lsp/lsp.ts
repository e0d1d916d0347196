/**
 * The language server: findings as you type, completion, hover, go to, and the changes that findings propose, for any
 * editor that speaks the Language Server Protocol. It reads files and serves nothing.
 */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import {
  type CodeAction,
  CodeActionKind,
  type CompletionItem,
  CompletionItemKind,
  type Connection,
  createConnection,
  type Diagnostic,
  DiagnosticSeverity,
  type InitializeResult,
  type Location,
  StreamMessageReader,
  StreamMessageWriter,
  TextDocuments,
  TextDocumentSyncKind,
  type TextDocumentPositionParams,
} from 'vscode-languageserver/node';
import { TextDocument } from 'vscode-languageserver-textdocument';
import { completeAt, type Known, type Offered, parseExact, type SampleContent } from '../console/facts.ts';
import type { OpenTexts } from '../document/document.ts';
import { type Finding, printSentence, type TextEdit } from '../finding.ts';
import { listHelpers, mappingJsonSchema } from '../mapping/facts.ts';
import type { CompiledMapping } from '../mapping/mapping.ts';
import type { HookRequest } from '../request.ts';
import { hookNameAt, hoverText, linkedFile, placeOfKey, wordAt } from './places.ts';

/** A project as its files are now, with what is open in the editor. */
export interface LoadedProject {
  readonly diagnostics: readonly Finding[];
  /** Empty where there are errors. */
  readonly mappings: readonly CompiledMapping[];
  /** Absent where the configuration cannot be read. */
  readonly transformsDir?: string;
  /** Requests that are known; read again with `isFresh`. */
  readonly samples: readonly Sample[];
}

/** A request, and the file that it is in. */
export interface Sample {
  readonly request: HookRequest;
  /** From the working directory. */
  readonly from: string;
}

export interface Project {
  readonly configFile: string;
  /** Only what differs from the last time is judged anew; with `isFresh` transforms are read again, too. */
  load(open: OpenTexts, isFresh: boolean): Promise<LoadedProject>;
  close(): Promise<void>;
}

export interface LanguageServerOptions {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
  /** The project of a folder that an editor has opened; undefined where it has no configuration. */
  openProject(folder: string): Project | undefined;
}

/** Resolves when the editor has ended it. */
export async function runLanguageServer(options: LanguageServerOptions): Promise<void> {
  const connection = createConnection(
    new StreamMessageReader(options.input),
    new StreamMessageWriter(options.output),
  );
  const server = new LanguageServer(connection, options);
  await server.ended;
  await server.stop();
}

const KINDS: Readonly<Record<Offered['type'], CompletionItemKind>> = {
  constant: CompletionItemKind.Constant,
  enum: CompletionItemKind.EnumMember,
  function: CompletionItemKind.Function,
  keyword: CompletionItemKind.Operator,
  property: CompletionItemKind.Property,
  variable: CompletionItemKind.Field,
};

/** Longer hints are cut in the title of an action. */
const MAX_TITLE = 120;

class LanguageServer {
  readonly ended: Promise<void>;
  readonly #connection: Connection;
  readonly #options: LanguageServerOptions;
  readonly #documents = new TextDocuments(TextDocument);
  readonly #open: OpenTexts = { texts: new Map(), parsed: new Map() };
  readonly #vocabulary = { helpers: listHelpers(), mapping: mappingJsonSchema() };
  #project: Project | undefined;
  #loaded: LoadedProject = { diagnostics: [], mappings: [], samples: [] };
  #contents = new WeakMap<HookRequest, SampleContent>();
  /** Shown findings by the address of their file. */
  #shown = new Map<string, readonly Finding[]>();
  #isFresh = true;
  #judging: Promise<void> | undefined;
  #isWanted = false;

  constructor(connection: Connection, options: LanguageServerOptions) {
    this.#connection = connection;
    this.#options = options;
    connection.onInitialize(({ workspaceFolders, rootUri }) =>
      this.#initialize(workspaceFolders?.[0]?.uri ?? rootUri ?? undefined),
    );
    connection.onInitialized(() => this.#judge());
    connection.onCompletion((at) => this.#complete(at));
    connection.onHover((at) => this.#hover(at));
    connection.onDefinition((at) => this.#define(at));
    connection.onCodeAction(({ textDocument: { uri }, range }) =>
      this.#actions(uri, range.start.line, range.end.line),
    );
    connection.onDidChangeWatchedFiles(() => this.#judge(true));
    this.#documents.onDidChangeContent(({ document }) => this.#edit(document.uri, document.getText()));
    this.#documents.onDidSave(({ document }) => this.#judge(/\.[mc]?[jt]s$/.test(document.uri)));
    this.#documents.onDidClose(({ document }) => this.#edit(document.uri, undefined));
    this.#documents.listen(connection);
    this.ended = new Promise((resolveEnd) => {
      connection.onExit(resolveEnd);
      options.input.once('end', resolveEnd);
    });
    connection.listen();
  }

  async stop(): Promise<void> {
    await this.#judging;
    await this.#project?.close();
  }

  #initialize(folder: string | undefined): InitializeResult {
    const path = folder === undefined ? process.cwd() : fileURLToPath(folder);
    this.#project = this.#options.openProject(path);
    if (this.#project === undefined)
      this.#connection.console.warn(`there is no sluice.yaml in ${path}; name one with -c`);
    return {
      capabilities: {
        textDocumentSync: { openClose: true, change: TextDocumentSyncKind.Incremental, save: true },
        completionProvider: { triggerCharacters: ['{', '.', '"', "'", ' '] },
        hoverProvider: true,
        definitionProvider: true,
        codeActionProvider: { codeActionKinds: [CodeActionKind.QuickFix] },
      },
      serverInfo: { name: 'sluice' },
    };
  }

  #edit(uri: string, text: string | undefined): void {
    if (!uri.startsWith('file:')) return;
    const path = fileURLToPath(uri);
    const texts = this.#open.texts as Map<string, string>;
    if (text === undefined) texts.delete(path);
    else texts.set(path, text);
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
      this.#isWanted = false;
      const isFresh = this.#isFresh;
      this.#isFresh = false;
      try {
        this.#loaded = await this.#project.load(this.#open, isFresh);
      } catch (error) {
        this.#connection.console.error(String(error));
        return;
      }
      if (!this.#isWanted) await this.#show(this.#project.configFile);
    }
  }

  /** Findings that belong to no file stand at the beginning of the configuration. */
  async #show(configFile: string): Promise<void> {
    const before = this.#shown;
    this.#shown = Map.groupBy(
      this.#loaded.diagnostics,
      ({ at }) => pathToFileURL(resolve(at?.source.file ?? configFile)).href,
    );
    const uris = new Set([...before.keys(), ...this.#shown.keys()]);
    for (const uri of uris) {
      const diagnostics = (this.#shown.get(uri) ?? []).map(diagnosticOf);
      await this.#connection.sendDiagnostics({ uri, diagnostics });
    }
  }

  #complete({ textDocument: { uri }, position }: TextDocumentPositionParams): CompletionItem[] {
    const document = this.#documents.get(uri);
    if (document === undefined) return [];
    const text = document.getText();
    const pos = document.offsetAt(position);
    const offer = completeAt(
      { fileName: fileURLToPath(uri), text, pos, explicit: true },
      this.#known(text, pos),
    );
    const start = document.positionAt(offer?.from ?? pos);
    return (offer?.options ?? []).map(({ label, type, detail, info, apply = label }) => ({
      label,
      kind: KINDS[type],
      ...(detail === undefined ? {} : { detail }),
      ...(info === undefined ? {} : { documentation: info }),
      textEdit: { range: { start, end: position }, newText: apply },
    }));
  }

  /** What is known at a place: the requests of its hook name, of all where it has none. */
  #known(text: string, pos: number): Known {
    const name = hookNameAt(text, pos);
    const { samples } = this.#loaded;
    const own = samples.filter(({ request: { path } }) => path === name);
    const asked = own.length > 0 || name !== undefined ? own : samples;
    const names = [
      ...samples.map(({ request: { path } }) => path),
      ...this.#loaded.mappings.flatMap(({ match }) => match.path ?? []),
    ];
    return {
      vocabulary: this.#vocabulary,
      samples: asked.map(({ request }) => this.#contentOf(request)),
      hookNames: [...new Set(names)].toSorted(),
    };
  }

  #contentOf(request: HookRequest): SampleContent {
    const known = this.#contents.get(request);
    if (known !== undefined) return known;
    const { headers, payload } = request;
    const content = { headers, payload: parseExact(JSON.stringify(payload)) };
    this.#contents.set(request, content);
    return content;
  }

  #hover({ textDocument: { uri }, position }: TextDocumentPositionParams) {
    const document = this.#documents.get(uri);
    if (document === undefined) return null;
    const text = document.getText();
    const pos = document.offsetAt(position);
    const value = hoverText(
      { fileName: fileURLToPath(uri), text, pos, explicit: true },
      this.#known(text, pos),
    );
    return value === undefined ? null : { contents: { kind: 'plaintext' as const, value } };
  }

  /** A file that a key names, the golden cases of a hook name, or the first request that has a path. */
  #define({ textDocument: { uri }, position }: TextDocumentPositionParams): Location[] {
    const document = this.#documents.get(uri);
    if (document === undefined) return [];
    const text = document.getText();
    const pos = document.offsetAt(position);
    const folders = [this.#loaded.transformsDir ?? '', dirname(fileURLToPath(uri))];
    const linked = linkedFile(text, pos);
    const file = folders.map((folder) => resolve(folder, linked ?? '')).find((path) => existsSync(path));
    if (linked !== undefined) return file === undefined ? [] : [locationOf(file, '', 0)];
    const name = hookNameAt(text, pos);
    const own = this.#loaded.samples.filter(({ request: { path } }) => path === name);
    const word = wordAt(text, pos);
    if (word === name) return own.map(({ from }) => locationOf(resolve(from), '', 0));
    for (const { from, request } of own) {
      const sampleText = readFileSync(from, 'utf8');
      const offset = placeOfKey(sampleText, word, this.#contentOf(request));
      if (offset !== undefined) return [locationOf(resolve(from), sampleText, offset)];
    }
    return [];
  }

  #actions(uri: string, first: number, last: number): CodeAction[] {
    return (this.#shown.get(uri) ?? []).flatMap((finding): CodeAction[] => {
      const { edit, also = [], hint, message } = finding;
      const diagnostic = diagnosticOf(finding);
      const { start, end } = diagnostic.range;
      if (edit === undefined || start.line > last || end.line < first) return [];
      const changes = Object.groupBy([edit, ...also].map(editOf), ({ uri: file }) => file);
      return [
        {
          title: printSentence(hint ?? message).slice(0, MAX_TITLE),
          kind: CodeActionKind.QuickFix,
          diagnostics: [diagnostic],
          edit: { changes: changes as Record<string, { range: Diagnostic['range']; newText: string }[]> },
        },
      ];
    });
  }
}

function rangeOf(text: string, from: number, to: number): Diagnostic['range'] {
  const document = TextDocument.create('', '', 0, text);
  return { start: document.positionAt(from), end: document.positionAt(to) };
}

function editOf({ at: { source, start, end }, text }: TextEdit) {
  const uri = pathToFileURL(resolve(source.file)).href;
  return { uri, range: rangeOf(source.text, start, end), newText: text };
}

const locationOf = (file: string, text: string, offset: number): Location => ({
  uri: pathToFileURL(file).href,
  range: rangeOf(text, offset, offset),
});

function diagnosticOf({ severity, code, message, hint, at }: Finding): Diagnostic {
  const said = printSentence(message);
  return {
    range: at === undefined ? rangeOf('', 0, 0) : rangeOf(at.source.text, at.start, at.end),
    severity: severity === 'error' ? DiagnosticSeverity.Error : DiagnosticSeverity.Warning,
    code,
    source: 'sluice',
    message: hint === undefined ? said : `${said}\n${printSentence(hint)}`,
  };
}
