/*
 * Words of `argv` that were meant as placeholders and are none: another spelling (`{promptFile}`), the braces of another
 * tool (`{{prompt}}`), or a variable that nobody sets (`$PROMPT`). A word is only one of them where it is nothing else,
 * behind an option at most: braces within code, a filter of jq or a format of docker are left alone.
 */
import { basename } from 'node:path';
import { isOneEditApart } from '../../document/document.ts';
import { ARGV_PLACEHOLDERS } from '../../runners/facts.ts';
import { shellWord } from './shell-words.ts';

export interface MeantPlaceholder {
  readonly word: string;
  /** What to write in its place; absent where the prompt itself was meant. */
  readonly placeholder?: string;
  readonly argv: readonly string[];
}

const WHOLE =
  /^(-{0,2}[\w-]*[=:]|@|<)?(?:\{\{?\s*([A-Za-z][\w-]*)\s*\}\}?|\$([A-Za-z]\w*)|<([a-z][\w-]*)>|%([A-Za-z]\w*)%)$/;
/** Programs whose own language has such words. */
const OWN_BRACES = /^(?:[gj]?[jy]q|gojq|jaq|[gm]?awk|find|fd|xargs|parallel|sed|perl)$/;

/** Other names of the placeholders; `prompt` is the text itself, which is no argument. */
const NAMES: Readonly<Record<string, string>> = {
  promptpath: 'prompt_file',
  inputfile: 'prompt_file',
  file: 'prompt_file',
  prompt: 'prompt',
  message: 'prompt',
  session: 'session_id',
  conversationid: 'session_id',
  modelname: 'model',
  timeout: 'timeout_seconds',
  history: 'history_file',
};

const plain = (name: string): string => name.toLowerCase().replaceAll(/[_-]/g, '');

function meantName(name: string): string | undefined {
  const bare = plain(name);
  if (Object.hasOwn(NAMES, bare)) return NAMES[bare];
  // A word of one letter more, less or other.
  return (
    ARGV_PLACEHOLDERS.find((each) => plain(each) === bare) ??
    ARGV_PLACEHOLDERS.find((each) => isOneEditApart(plain(each), bare))
  );
}

/** The first word that was meant as a placeholder, with the argv to write; `env`: what the runner sets itself. */
export function findMeantPlaceholder(
  argv: readonly string[],
  env: Readonly<Record<string, string>>,
): MeantPlaceholder | undefined {
  if (argv.some((word) => OWN_BRACES.test(basename(word)))) return undefined;
  for (const [index, word] of argv.entries()) {
    const [, option = '', braces, variable, angle, percent] = WHOLE.exec(word) ?? [];
    const name = braces ?? variable ?? angle ?? percent;
    if (index === 0 || name === undefined || (word === `${option}{${name}}` && isKnown(name))) continue;
    // A variable of the runner is for a shell; SLUICE_PROMPT_FILE is one, too.
    if (variable !== undefined && (Object.hasOwn(env, variable) || variable.startsWith('SLUICE_'))) continue;
    const meant = meantName(name);
    if (meant === undefined) continue;
    if (meant === 'prompt') return { word, argv: withPrompt(argv, index, option) };
    const placeholder = `{${meant}}`;
    return { word, placeholder, argv: argv.with(index, `${option}${placeholder}`) };
  }
  return undefined;
}

const isKnown = (name: string): boolean => (ARGV_PLACEHOLDERS as readonly string[]).includes(name);

/** The command with the text of the prompt as an argument, which a shell reads from the file; no value becomes its code. */
function withPrompt(argv: readonly string[], index: number, option: string): readonly string[] {
  const values = ['{prompt_file}'];
  const words = argv.map((word, at) => {
    if (at === index) return `"${option}$(cat "$1")"`;
    return /\{[a-z_]+\}/.test(word) ? `"$${String(values.push(word))}"` : shellWord(word);
  });
  return ['sh', '-c', `exec ${words.join(' ')}`, 'sh', ...values];
}
