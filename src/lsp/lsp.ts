/**
 * The language server: findings as you type, completion, hover, go to, and the changes that findings propose, for any
 * editor that speaks the Language Server Protocol. It reads files and serves nothing.
 */
import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { completeAt, type Known, parseExact, type SampleContent } from '../console/facts.ts';
import type { OpenTexts } from '../document/document.ts';
import { type Finding, printSentence, type TextEdit } from '../finding.ts';
import { listHelpers, mappingJsonSchema } from '../mapping/facts.ts';
import type { CompiledMapping } from '../mapping/mapping.ts';
import type { HookRequest } from '../request.ts';
import { Connection } from './json-rpc.ts';
import { hookNameAt, hoverText, linkedFile } from './places.ts';
import {
  CAPABILITIES,
  COMPLETION_KIND,
  type InitializeParams,
  offsetAt,
  type PlaceParams,
  type Range,
  rangeOf,
  SEVERITY,
  WARNING_MESSAGE,
} from './protocol.ts';

/** A project as its files are now, with what is open in the editor. */
export interface LoadedProject {
  readonly diagnostics: readonly Finding[];
  /** Those of the last time without errors. */
  readonly mappings: readonly CompiledMapping[];
  /** Absent where the configuration cannot be read. */
  readonly transformsDir?: string;
  /** Requests that are known, each with the file that it is in, from the working directory. */
  readonly samples: readonly { readonly request: HookRequest; readonly from: string }[];
}

export interface Project {
  readonly configFile: string;
  /**
   * Only what differs from the last time is judged anew; with `isFresh` transforms and samples are read again, too.
   * Gives what is known first, and the whole where that takes longer.
   */
  load(open: OpenTexts, isFresh: boolean): AsyncIterable<LoadedProject>;
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
  const server = new LanguageServer(options);
  try {
    await server.listen();
  } finally {
    await server.stop();
  }
}

/** Longer hints are cut in the title of an action. */
const MAX_TITLE = 120;

interface TextParams {
  readonly textDocument: { readonly uri: string; readonly text: string };
}

class LanguageServer {
  readonly #connection: Connection;
  readonly #options: LanguageServerOptions;
  readonly #open = { texts: new Map<string, string>(), parsed: new Map() } satisfies OpenTexts;
  readonly #vocabulary = { helpers: listHelpers(), mapping: mappingJsonSchema() };
  readonly #contents = new WeakMap<HookRequest, SampleContent>();
  #project: Project | undefined;
  #watches = false;
  #loaded: LoadedProject = { diagnostics: [], mappings: [], samples: [] };
  /** Shown findings by the address of their file. */
  #shown = new Map<string, readonly Finding[]>();
  #isFresh = true;
  #isWanted = false;
  #judging: Promise<void> | undefined;

  constructor(options: LanguageServerOptions) {
    this.#options = options;
    this.#connection = new Connection(options.output);
  }

  listen(): Promise<void> {
    return this.#connection.listen(this.#options.input, {
      requests: {
        initialize: (params: InitializeParams) => this.#initialize(params),
        shutdown: () => null,
        'textDocument/completion': (at: PlaceParams) => this.#complete(at),
        'textDocument/hover': (at: PlaceParams) => this.#hover(at),
        'textDocument/definition': (at: PlaceParams) => this.#define(at),
        'textDocument/codeAction': (at: PlaceParams & { readonly range: Range }) => this.#actions(at),
      },
      notifications: {
        initialized: () => this.#begin(),
        'textDocument/didOpen': ({ textDocument: { uri, text } }: TextParams) => this.#edit(uri, text),
        'textDocument/didChange': ({
          textDocument: { uri },
          contentChanges,
        }: TextParams & { readonly contentChanges: readonly { readonly text: string }[] }) =>
          this.#edit(uri, contentChanges.at(-1)?.text),
        'textDocument/didSave': ({ textDocument: { uri } }: TextParams) =>
          void this.#judge(!/\.(?:ya?ml|json5?)$/.test(uri)),
        'textDocument/didClose': ({ textDocument: { uri } }: TextParams) => this.#edit(uri, undefined),
        'workspace/didChangeWatchedFiles': () => void this.#judge(true),
      },
    });
  }

  async stop(): Promise<void> {
    this.#isWanted = false;
    await this.#judging;
    await this.#project?.close();
  }

  #initialize({ workspaceFolders, rootUri, capabilities }: InitializeParams) {
    const folder = workspaceFolders?.[0]?.uri ?? rootUri ?? pathToFileURL(process.cwd()).href;
    const path = fileURLToPath(folder);
    this.#watches = capabilities?.workspace?.didChangeWatchedFiles?.dynamicRegistration === true;
    this.#project = this.#options.openProject(path);
    if (this.#project === undefined)
      this.#connection.notify('window/showMessage', {
        type: WARNING_MESSAGE,
        message: `there is no sluice.yaml in ${path}; name one with sluice lsp -c FILE`,
      });
    return { capabilities: CAPABILITIES, serverInfo: { name: 'sluice' } };
  }

  /** Editors tell of files that others change only where they are asked to. */
  #begin(): void {
    const watchers = [{ globPattern: '**/*.{yaml,yml,json,json5,ts,js,mjs,cjs}' }];
    const method = 'workspace/didChangeWatchedFiles';
    const registrations = [{ id: 'files', method, registerOptions: { watchers } }];
    if (this.#watches) this.#connection.request('client/registerCapability', { registrations });
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
        // Each judgement is of what was typed up to the one before.
        // oxlint-disable-next-line no-await-in-loop
        for await (const loaded of this.#project.load(this.#open, isFresh)) {
          this.#loaded = loaded;
          this.#show(this.#project.configFile);
          if (!this.#isWanted) continue;
          this.#isFresh ||= isFresh;
          break;
        }
      } catch (error) {
        this.#connection.notify('window/logMessage', { type: WARNING_MESSAGE, message: String(error) });
      }
    }
  }

  /** Findings that belong to no file stand at the beginning of the configuration. */
  #show(configFile: string): void {
    const before = this.#shown;
    this.#shown = Map.groupBy(
      this.#loaded.diagnostics,
      ({ at }) => pathToFileURL(resolve(at?.source.file ?? configFile)).href,
    );
    for (const uri of new Set([...before.keys(), ...this.#shown.keys()])) {
      const diagnostics = (this.#shown.get(uri) ?? []).map(diagnosticOf);
      this.#connection.notify('textDocument/publishDiagnostics', { uri, diagnostics });
    }
  }

  /** The text around a place, and what is known there; undefined of a file that is not open. */
  #at({ textDocument: { uri }, position }: PlaceParams) {
    const fileName = uri.startsWith('file:') ? fileURLToPath(uri) : '';
    const text = this.#open.texts.get(fileName);
    if (text === undefined) return undefined;
    const pos = offsetAt(text, position);
    return { fileName, text, pos, explicit: true, known: this.#known(hookNameAt(text, pos)) };
  }

  /** The requests of a hook name, of all where there is none. */
  #known(name: string | undefined): Known {
    const { samples, mappings } = this.#loaded;
    const asked = samples.filter(({ request: { path } }) => name === undefined || path === name);
    const names = [
      ...samples.map(({ request: { path } }) => path),
      ...mappings.flatMap(({ match }) => match.path ?? []),
    ];
    return {
      vocabulary: this.#vocabulary,
      samples: asked.map(({ request }) => this.#contentOf(request)),
      hookNames: [...new Set(names)].toSorted(),
    };
  }

  #contentOf(request: HookRequest): SampleContent {
    const { headers, payload } = request;
    const content = this.#contents.get(request) ?? { headers, payload: parseExact(JSON.stringify(payload)) };
    this.#contents.set(request, content);
    return content;
  }

  #complete(params: PlaceParams) {
    const here = this.#at(params);
    const offer = here && completeAt(here, here.known);
    if (here === undefined || !offer) return [];
    const { start } = rangeOf(here.text, offer.from, offer.from);
    return offer.options.map(({ label, type, detail, info, apply = label }) => ({
      label,
      kind: COMPLETION_KIND[type],
      ...(detail === undefined ? {} : { detail }),
      ...(info === undefined ? {} : { documentation: info }),
      textEdit: { range: { start, end: params.position }, newText: apply },
    }));
  }

  #hover(params: PlaceParams) {
    const here = this.#at(params);
    const value = here && hoverText(here, here.known);
    return value === undefined ? null : { contents: { kind: 'plaintext', value } };
  }

  /** The file that a key names, else the samples and golden cases of the hook name. */
  #define(params: PlaceParams) {
    const here = this.#at(params);
    if (here === undefined) return [];
    const { fileName, text, pos } = here;
    const linked = linkedFile(text, pos);
    const name = hookNameAt(text, pos);
    const folders = [this.#loaded.transformsDir ?? '', dirname(fileName)];
    const files =
      linked === undefined
        ? this.#loaded.samples.filter(({ request }) => request.path === name).map(({ from }) => resolve(from))
        : folders.map((folder) => resolve(folder, linked));
    const found = files.filter((file) => existsSync(file));
    return [...new Set(linked === undefined ? found : found.slice(0, 1))].map((file) => ({
      uri: pathToFileURL(file).href,
      range: rangeOf('', 0, 0),
    }));
  }

  #actions({ textDocument: { uri }, range }: PlaceParams & { readonly range: Range }) {
    return (this.#shown.get(uri) ?? []).flatMap((finding) => {
      const { edit, also = [], hint, message } = finding;
      const diagnostic = diagnosticOf(finding);
      const { start, end } = diagnostic.range;
      if (edit === undefined || start.line > range.end.line || end.line < range.start.line) return [];
      const changes = Object.groupBy([edit, ...also].map(editOf), (each) => each.uri);
      return [
        {
          title: printSentence(hint ?? message).slice(0, MAX_TITLE),
          kind: 'quickfix',
          diagnostics: [diagnostic],
          edit: { changes },
        },
      ];
    });
  }
}

function editOf({ at: { source, start, end }, text }: TextEdit) {
  const uri = pathToFileURL(resolve(source.file)).href;
  return { uri, range: rangeOf(source.text, start, end), newText: text };
}

function diagnosticOf({ severity, code, message, hint, at, isGeneral }: Finding) {
  const said = printSentence(message);
  return {
    range: at === undefined ? rangeOf('', 0, 0) : rangeOf(at.source.text, at.start, at.end),
    severity: isGeneral === true ? SEVERITY.note : SEVERITY[severity],
    code,
    source: 'sluice',
    message: hint === undefined ? said : `${said}\n${printSentence(hint)}`,
  };
}
