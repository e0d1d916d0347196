import { SECRET_KEY } from '../telemetry/telemetry.ts';
import type { LocatedValue, Path } from './diagnostic.ts';
import type { TreeNode } from './tree.ts';

/** Part of a text that holds a literal secret: never printed. */
export interface SecretRange {
  readonly start: number;
  readonly end: number;
}

/** A text that names a secret instead of being one. */
const REFERENCE = /^\$\{[^}]*\}$/;
/** An address with a password in it, before its host or in its query. */
const CREDENTIALS =
  /^[a-z][a-z0-9+.-]*:\/\/(?:[^/\s:@]*:(?!\$\{)[^@\s]+@|[^\s?]*\?(?:[^\s&]*&)*[^\s&=]*(?:password|passwd|pwd|secret|token|api[-_]?key)=(?!\$\{|\{\{)[^&\s])/i;

/** Tokens that are known by their look, as their makers document it: GitHub, GitLab, Slack, Stripe, OpenAI and others. */
const TOKEN_LOOK =
  /(?<![\w-])(?:gh[pousr]_\w{20,}|github_pat_\w{20,}|glpat-[\w-]{20,}|xox[a-z]-[\w-]{10,}|xapp-[\w-]{10,}|[rs]k_(?:live|test)_\w{10,}|sk-[\w-]{20,}|whsec_[\w+/=]{16,}|AKIA[0-9A-Z]{16}|AIza[\w-]{35}|SG\.[\w-]{16,}\.[\w-]{16,}|npm_\w{36}|\d{8,10}:[\w-]{35}|eyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]{10,})/g;

/** Whether a text is an address with a password in it, or holds a token that is known by its look. */
export function holdsCredentials(text: string): boolean {
  return CREDENTIALS.test(text) || text.search(TOKEN_LOOK) >= 0;
}

/** The text without tokens that are known by their look. */
export function hideTokens(text: string): string {
  return text.replaceAll(TOKEN_LOOK, '[token]');
}

/** Holds the settings of channels by name: a text in the place of such settings is most likely the token. */
const SETTINGS_BY_NAME = 'channels';
/** How senders are proved, with the secret in it: a text or list in its place is most likely the secret. */
const PROOF = 'verify';

/** Whether what stands at a path may be a secret, by the names of its keys. */
export function isSecretPath(path: Path): boolean {
  const [last, parent, above] = [path.at(-1), path.at(-2), path.at(-3)];
  const isListed = typeof last === 'number';
  return (
    path.some((step) => typeof step === 'string' && SECRET_KEY.test(step)) ||
    last === SETTINGS_BY_NAME ||
    parent === SETTINGS_BY_NAME ||
    (above === SETTINGS_BY_NAME && isListed) ||
    last === PROOF ||
    (parent === PROOF && isListed)
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
  return [...text.matchAll(TOKEN_LOOK)].map(({ 0: { length }, index: start }) => ({
    start,
    end: start + length,
  }));
}

function collect(node: TreeNode, isSecretKey: boolean): SecretRange[] {
  if (typeof node.value === 'string') {
    const isSecret = isSecretKey && node.value !== '' && !REFERENCE.test(node.value);
    const { start, end } = node.text ?? node;
    return isSecret || CREDENTIALS.test(node.value) ? [{ start, end }] : [];
  }
  const items = node.items ?? [];
  const isCompared = items.some(readsSecret);
  const inItems = items.flatMap((item) => collect(item, isSecretKey || (isCompared && !readsSecret(item))));
  const isFileReference = node.members?.size === 1 && node.members.has('file');
  const inMembers = [...(node.members ?? [])].flatMap(([key, member]) => [
    ...collect(member.node, (isSecretKey && !isFileReference) || SECRET_KEY.test(key)),
    ...(key === SETTINGS_BY_NAME ? textsIn(member.node) : []),
    ...(key === PROOF ? textsOf(member.node) : []),
  ]);
  return [...inItems, ...inMembers];
}

/** The operand of a condition that reads what has a secret's name, such as `{var: headers.x-gitlab-token}`. */
function readsSecret({ members }: TreeNode): boolean {
  const name = members?.size === 1 ? members.get('var')?.node.value : undefined;
  const first: unknown = Array.isArray(name) ? name[0] : name;
  return typeof first === 'string' && SECRET_KEY.test(first);
}

/** Texts that stand in the place of settings, or of the settings below a name. */
function textsIn(node: TreeNode): readonly SecretRange[] {
  return node.members === undefined
    ? textsOf(node)
    : [...node.members].flatMap(([, member]) => textsOf(member.node));
}

/** The texts of a value that is no object. */
function textsOf(node: TreeNode): readonly SecretRange[] {
  return node.members === undefined ? collect(node, true) : [];
}

/** A key with a secret's name and what follows it in the line, unless that is a reference or opens something. */
const SECRET_LINE =
  /(?:token|secret|password|passwd|credential|authorization|api_?-?key)s?["']?[ \t]*[:=][ \t]*(?!["']?\$\{[A-Za-z0-9_]*\}|\{[ \t]*["']?file|[{[|>][+\d-]*[ \t]*\r?$)(\S.*)$/gim;
const COMMENT = /(?:^|[ \t])(?:#|\/\/)(.*)$/gm;
/** A word behind a key with a secret's name, at the end of a comment. */
const SECRET_COMMENT =
  /(?:token|secret|password|passwd|credential|authorization|api_?-?key)s?["']?[ \t]*[:=][ \t]*(?!["']?\$\{)(\S{6,})\s*$/i;
const MAX_COMMENT_CHARS = 500;
const ADDRESS = /:\/\/([^/\s:@]{0,256}:[^@\s]{1,256})@/g;

/** The same by the look of lines, for texts whose structure could not be read. */
export function secretsInText(text: string): readonly SecretRange[] {
  return [...[SECRET_LINE, ADDRESS].flatMap((pattern) => valuesOf(pattern, text)), ...tokensIn(text)];
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

/** Where the values at and below a path stand: a key nobody knows may be a misspelt one, and its value a secret. */
export function valuesAt(root: LocatedValue, path: Path): readonly SecretRange[] {
  const { value } = root.at(path);
  if (typeof value === 'object' && value !== null) {
    const steps = Array.isArray(value) ? value.keys() : Object.keys(value);
    return [...steps].flatMap((step) => valuesAt(root, [...path, step]));
  }
  if (value === null || (typeof value === 'string' && REFERENCE.test(value))) return [];
  const { start, end } = root.place(path);
  return [{ start, end }];
}
