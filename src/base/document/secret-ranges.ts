import { MIN_SECRET_NUMBER, SECRET_KEY, SECRET_NAME, namesSecretText } from '../telemetry/telemetry.ts';
import type { SourceText } from '../finding.ts';
import type { LocatedValue, Path } from './located.ts';
import type { TreeNode } from './tree.ts';

/** Part of a text that holds a literal secret: never printed. */
export interface SecretRange {
  readonly start: number;
  readonly end: number;
}

/** A text that names a secret instead of being one; what follows a name in the braces may be a default, and is one. */
const REFERENCE = /^\$\{(?:[\w\s.$]|-(?=[A-Z_]))*\}$/;
/** An address with a password in it, before its host or in its query. */
const CREDENTIALS =
  /^[a-z][a-z0-9+.-]*:\/\/(?:[^/\s:@]*:(?!\$\{\w+\})[^@\s]+@|[^\s?]*\?(?:[^\s&]*&)*[^\s&=]*(?:password|passwd|pwd|secret|token|api[-_]?key)=(?!\$\{\w+\}|\{\{)[^&\s])/i;

/**
 * Tokens that are known by their look, as their makers document it (GitHub, GitLab, Slack, Stripe, OpenAI and others),
 * long hexadecimal numbers, and long words of letters of both cases with digits between them.
 */
const TOKEN_LOOK =
  /(?<![\w-])(?:gh[pousr]_\w{20,}|github_pat_\w{20,}|glpat-[\w-]{20,}|xox[a-z]-[\w-]{10,}|xapp-[\w-]{10,}|[rs]k_(?:live|test)_\w{10,}|sk-[\w-]{20,}|whsec_[\w+/=]{16,}|AKIA[0-9A-Z]{16}|AIza[\w-]{35}|SG\.[\w-]{16,}\.[\w-]{16,}|npm_\w{36}|\d{8,10}:[\w-]{35}|eyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]{10,}|[\da-f]{32,}(?!\w)|(?=[a-zA-Z\d]*[a-z])(?=[a-zA-Z\d]*[A-Z])(?=(?:[a-zA-Z]*\d){3})[a-zA-Z\d]{16,}(?!\w))/g;
/** A token in the query of an address or path. */
const TOKEN_PARAMETER = /([?&][^=?&#\s"']*(?:token|secret|password)=)(?!\$\{|\{\{)[^&#\s"']+/gi;
/** A header with a secret, as a command line has it. */
const SECRET_HEADER =
  /(?:authorization[ \t]*:[ \t]*(?:bearer|basic|token)[ \t]+|["'][\w-]*(?:token|secret|password|api-?key)[ \t]*:[ \t]*)(?![$<{])([^\s"',\]]{6,})/gi;

/** A key and its secret that became one text, as no space stands behind the colon. */
const SECRET_PAIR = new RegExp(String.raw`^[\w-]*${SECRET_NAME}:(?![{$])\S`, 'i');

const isCredentials = (text: string): boolean => CREDENTIALS.test(text) || SECRET_PAIR.test(text);

/** Whether a text is an address with a password in it or a key with its secret, or holds a token known by its look. */
export function holdsCredentials(text: string): boolean {
  return isCredentials(text) || text.search(TOKEN_LOOK) >= 0;
}

/** The text without tokens that are known by their look. */
export function hideTokens(text: string): string {
  return text.replaceAll(TOKEN_PARAMETER, '$1[token]').replaceAll(TOKEN_LOOK, '[token]');
}

/** Holds the settings of channels by name: a text in the place of such settings is most likely the token. */
const SETTINGS_BY_NAME = 'channels';
/** How senders are proved, with the secret in it: a text or list in its place is most likely the secret. */
const PROOF = 'verify';
/** Keys of the console by the name of their owner: `{role, key}`. */
const KEYS_BY_NAME = 'keys';

export function isBelowSecret(path: Path): boolean {
  return path.some((step) => typeof step === 'string' && SECRET_KEY.test(step));
}

/** Whether what stands at a path may be a secret, by the names of its keys. */
export function isSecretPath(path: Path): boolean {
  // An element of a list is as secret as the list.
  const [last, parent, above] = path.toReversed().slice(typeof path.at(-1) === 'number' ? 1 : 0);
  return (
    isBelowSecret(path) ||
    last === SETTINGS_BY_NAME ||
    parent === SETTINGS_BY_NAME ||
    last === PROOF ||
    (typeof last === 'string' && namesSecretText(last)) ||
    (last === 'key' && above === KEYS_BY_NAME)
  );
}

/**
 * Literal texts below keys with a secret's name, addresses with passwords, and what looks like a token wherever it
 * stands, also in a comment; in the file's order.
 */
export function secretsInFile(text: string, tree: TreeNode): readonly SecretRange[] {
  return [...secretsInTree(tree), ...tokensIn(text), ...secretsInComments(text)].sort(
    (a, b) => a.start - b.start,
  );
}

export function secretsInTree(tree: TreeNode): readonly SecretRange[] {
  return collect(tree, false);
}

function tokensIn(text: string): readonly SecretRange[] {
  const looks = [...text.matchAll(TOKEN_LOOK)].map(({ 0: { length }, index: start }) => ({
    start,
    end: start + length,
  }));
  const parameters = [...text.matchAll(TOKEN_PARAMETER)].map(({ 0: { length }, 1: name = '', index }) => ({
    start: index + name.length,
    end: index + length,
  }));
  return [...looks, ...parameters, ...valuesOf(SECRET_HEADER, text)];
}

function collect(node: TreeNode, isSecretKey: boolean): SecretRange[] {
  if (typeof node.value === 'string') {
    const isSecret = isSecretKey && node.value !== '' && !REFERENCE.test(node.value);
    const { start, end } = node.text ?? node;
    return isSecret || isCredentials(node.value) ? [{ start, end }] : [];
  }
  if (typeof node.value === 'number')
    return isSecretKey && Math.abs(node.value) >= MIN_SECRET_NUMBER
      ? [{ start: node.start, end: node.end }]
      : [];
  const items = node.items ?? [];
  const isCompared = items.some(readsSecret);
  const inItems = items.flatMap((item) => collect(item, isSecretKey || (isCompared && !readsSecret(item))));
  const isFileReference = node.members?.size === 1 && node.members.has('file');
  const inMembers = [...(node.members ?? [])].flatMap(([key, member]) => [
    ...collect(member.node, (isSecretKey && !isFileReference) || namesSecretNode(key, member.node)),
    ...(key === SETTINGS_BY_NAME ? textsIn(member.node) : []),
    ...(key === KEYS_BY_NAME ? keysIn(member.node) : []),
    ...(key === PROOF ? textsOfProof(member.node) : []),
    // `{secret}` for `${NAME}`, or around the secret itself: a key without a value.
    ...(isSecretKey && member.node.value === null ? [{ start: member.start, end: member.end }] : []),
  ]);
  return [...inItems, ...inMembers];
}

const namesSecretNode = (key: string, { members }: TreeNode): boolean =>
  members === undefined ? namesSecretText(key) : SECRET_KEY.test(key);

/** The operand of a condition that reads what has a secret's name, such as `{var: headers.x-gitlab-token}`. */
function readsSecret({ members }: TreeNode): boolean {
  // Quotes of a word processor are a part of the key.
  const [only] = [...(members ?? [])].filter(([key]) => /^\W?var\W?$/.test(key));
  const name = members?.size === 1 ? only?.[1].node.value : undefined;
  const first: unknown = Array.isArray(name) ? name[0] : name;
  return typeof first === 'string' && SECRET_KEY.test(first.replaceAll(/^\W|\W$/g, ''));
}

/** Texts that stand in the place of settings, or of the settings below a name. */
function textsIn(node: TreeNode): readonly SecretRange[] {
  return node.members === undefined
    ? textsOf(node)
    : [...node.members].flatMap(([, member]) => textsOf(member.node));
}

function keysIn({ members }: TreeNode): readonly SecretRange[] {
  return [...(members?.values() ?? [])].flatMap(({ node }) => {
    const key = node.members?.get('key')?.node;
    return key === undefined ? [] : textsOf(key);
  });
}

/** Without a scheme, any value of the object may be the secret. */
function textsOfProof(node: TreeNode): readonly SecretRange[] {
  if (node.members === undefined) return textsOf(node);
  return node.members.has('scheme')
    ? []
    : [...node.members].flatMap(([, member]) => collect(member.node, true));
}

/** The texts of a value that is no object. */
function textsOf(node: TreeNode): readonly SecretRange[] {
  return node.members === undefined ? collect(node, true) : [];
}

/** A key with a secret's name and what follows it in the line, unless that is a reference or opens something. */
const SECRET_LINE = new RegExp(
  String.raw`${SECRET_NAME}["']?[ \t]*[:=][ \t]*(?!["']?\$\{[A-Za-z0-9_]*\}|\{[ \t]*["']?file|[{[|>][+\d-]*[ \t]*\r?$)(\S.*)$`,
  'gim',
);
/** The same where the value stands in the next line, or the colon is missing. */
const SECRET_BELOW = new RegExp(
  String.raw`${SECRET_NAME}["']?[ \t]*:[ \t]*[|>]?[+-]?[ \t]*\r?\n[ \t]*(?:-[ \t]+)?(?!["']?\$\{)([^\s:]+)[ \t]*\r?$`,
  'gim',
);
const SECRET_WORDS = new RegExp(
  String.raw`^[ \t]*(?:-[ \t]+)?\w*${SECRET_NAME}["']?[ \t]+(?!["']?\$\{)([^\s:=]+)[ \t]*\r?$`,
  'gim',
);
const COMMENT = /(?:^|[ \t])(?:#|\/\/)(.*)$/gm;
/** A word behind a key with a secret's name, at the end of a comment. */
const SECRET_COMMENT = new RegExp(
  String.raw`${SECRET_NAME}["']?[ \t]*[:=][ \t]*(?!["']?\$\{)(\S{6,})\s*$`,
  'i',
);
const MAX_COMMENT_CHARS = 500;
const ADDRESS = /:\/\/([^/\s:@]{0,256}:[^@\s]{1,256})@/g;

/** Finds secrets by the look of lines, for texts whose structure could not be read. */
export function secretsInText(text: string): readonly SecretRange[] {
  const patterns = [SECRET_LINE, SECRET_BELOW, SECRET_WORDS, ADDRESS];
  return [...patterns.flatMap((pattern) => valuesOf(pattern, text)), ...tokensIn(text)];
}

function secretsInComments(text: string): readonly SecretRange[] {
  return valuesOf(COMMENT, text).flatMap(({ start, end }) => {
    const comment = text.slice(start, Math.min(end, start + MAX_COMMENT_CHARS));
    const value = SECRET_COMMENT.exec(comment)?.[1];
    if (value === undefined) return [];
    const at = start + comment.lastIndexOf(value);
    return [{ start: at, end: at + value.length }];
  });
}

/** Where the first group of a pattern was found. */
function valuesOf(pattern: RegExp, text: string): readonly SecretRange[] {
  return [...text.matchAll(pattern)].map((match) => {
    const value = match[1] ?? '';
    const start = match.index + match[0].lastIndexOf(value);
    return { start, end: start + value.length };
  });
}

/** A text in quotes that is given to a name such as `apiKey` or `SLACK_TOKEN`. */
const SECRET_LITERAL = new RegExp(
  String.raw`${SECRET_NAME}["']?[ \t]*(?::[ \t]*string[ \t]*)?[:=][ \t]*["'\`](?!\$\{)([^"'\`\n]{6,})["'\`]`,
  'gi',
);

/** The source of a program, with what may be a secret in it. */
export function sourceOfCode(file: string, text: string): SourceText {
  return { file, text, secrets: [...tokensIn(text), ...valuesOf(SECRET_LITERAL, text)] };
}

/** Small numbers, a plain word, a file beside, or the times of cron: of no use as a secret. */
const HARMLESS =
  /^(?:[A-Za-z][a-z_-]{0,15}|\d{1,5}|\.{1,2}\/[a-z_./-]{1,40}|[\d*/,-]{1,6}(?: [\d*/,-]{1,6}){4,5})$/;

const isHarmless = (value: unknown): boolean =>
  typeof value === 'number' ? Math.abs(value) < 1e5 : typeof value === 'string' && HARMLESS.test(value);

/**
 * Where the values at and below a path stand: a key nobody knows may be a misspelt one, and its value a secret. What
 * cannot be one by its look is left out, unless a key on the way has the name of one, or nearly so (`areAll`).
 */
export function valuesAt(
  root: LocatedValue,
  path: Path,
  { areAll }: { readonly areAll: boolean },
): readonly SecretRange[] {
  const { value } = root.at(path);
  if (typeof value === 'object' && value !== null) {
    const steps = Array.isArray(value) ? value.keys() : Object.keys(value);
    return [...steps].flatMap((step) => valuesAt(root, [...path, step], { areAll }));
  }
  const isNamed = areAll || isSecretPath(path) || path.some((step) => namesSecretText(String(step)));
  const isPlain = value === null || typeof value === 'boolean' || (!isNamed && isHarmless(value));
  if (isPlain || (typeof value === 'string' && REFERENCE.test(value))) return [];
  const { start, end } = root.place(path);
  return [{ start, end }];
}
