/* Variables of the environment in the line of code that an interpreter prints with an error. */
import { environmentReads } from '../advice/commands.ts';

/** Errors about a value that is not there, as the interpreters say it. */
const ABOUT_NOTHING =
  /\b(?:undefined|NoneType|None|nil|null|NotPresent|not present)\b|The "\w+" argument must be|expected str(?:ing)?\b/;

/** A constant of which a part is asked, or that is handed on. */
const CONSTANT = /(?<![\w.])([A-Z][A-Z0-9]*_[A-Z0-9_]+)\s*(?:\.[a-z]|\[|[,)])/g;

/** Lines of code, without those that tell where they stand, and without a text in them. */
const codeOf = (error: string): readonly string[] =>
  error.split('\n').filter((line) => !/^\s*(?:at |File "|\w*(?:Error|Exception|Warning)\b)/.test(line));

/** Variables that are read, in so many words, in a line at which a program stopped for a value that is not there. */
export function variablesRead(error: string): readonly string[] {
  if (!ABOUT_NOTHING.test(error)) return [];
  const code = codeOf(error).join('\n');
  return environmentReads(code);
}

/** Constants in such a line, which may come from the environment. */
export function undefinedIn(error: string): readonly string[] {
  if (!ABOUT_NOTHING.test(error)) return [];
  // The text of the line says nothing of its variables.
  const code = codeOf(error).map((line) => line.replaceAll(/'[^'\n]*'|"[^"\n]*"/g, "''"));
  return [...new Set(namesIn(code.join('\n'), CONSTANT))];
}

const namesIn = (code: string, form: RegExp): readonly string[] =>
  [...code.matchAll(form)].map(([, name = '']) => name);
