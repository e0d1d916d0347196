/* The parts of the Language Server Protocol 3.17 that are spoken. Lines and characters are 0-based, those in UTF-16 units. */
import { positionOf } from '../document/facts.ts';

export interface Position {
  readonly line: number;
  readonly character: number;
}

export interface Range {
  readonly start: Position;
  readonly end: Position;
}

/** A place in an open file. */
export interface PlaceParams {
  readonly textDocument: { readonly uri: string };
  readonly position: Position;
}

export interface InitializeParams {
  readonly rootUri?: string | null;
  readonly workspaceFolders?: readonly { readonly uri: string }[] | null;
  readonly capabilities?: {
    readonly workspace?: { readonly didChangeWatchedFiles?: { readonly dynamicRegistration?: boolean } };
  };
}

/** What the protocol numbers. */
export const SEVERITY = { error: 1, warning: 2, note: 3 } as const;
export const COMPLETION_KIND = {
  constant: 21,
  enum: 20,
  function: 3,
  keyword: 24,
  property: 10,
  variable: 5,
} as const;
export const WARNING_MESSAGE = 2;
const FULL_TEXTS = 1;

/** What the server says that it can. */
export const CAPABILITIES = {
  textDocumentSync: { openClose: true, change: FULL_TEXTS, save: true },
  completionProvider: { triggerCharacters: ['{', '.', '"', "'", ' '] },
  hoverProvider: true,
  definitionProvider: true,
  codeActionProvider: { codeActionKinds: ['quickfix'] },
};

export function offsetAt(text: string, { line, character }: Position): number {
  let start = 0;
  for (let left = line; left > 0; left -= 1) {
    const end = text.indexOf('\n', start);
    if (end === -1) return text.length;
    start = end + 1;
  }
  const end = text.indexOf('\n', start);
  return Math.min(start + character, end === -1 ? text.length : end);
}

function positionAt(text: string, offset: number): Position {
  const { line, column } = positionOf(text, offset);
  return { line: line - 1, character: column - 1 };
}

export const rangeOf = (text: string, start: number, end: number): Range => ({
  start: positionAt(text, start),
  end: positionAt(text, end),
});
