/** What the placeholders of a command's argv stand for; an undefined value is absent. */
export type ArgvValues = Readonly<Record<ArgvPlaceholder, string | undefined>>;

const ARGV_PLACEHOLDERS = [
  'prompt_file',
  'model',
  'thinking',
  'session_key',
  'session_id',
  'timeout_seconds',
  'run_id',
  'history_file',
] as const;
type ArgvPlaceholder = (typeof ARGV_PLACEHOLDERS)[number];

export type ExpandedArgv =
  | { readonly ok: true; readonly argv: readonly string[] }
  /** The 0-based element whose value would be read as an option. */
  | { readonly ok: false; readonly index: number };

const PLACEHOLDER = new RegExp(`\\{(${ARGV_PLACEHOLDERS.join('|')})\\}`, 'gu');

/**
 * Fills in the placeholders of an argv. An element with an absent value is left out, and where it is nothing but the
 * placeholder, the flag right before it too (`--model {model}`). Other braces stay as they are. A value may come from
 * a sender, so one that would turn an element into an option (a leading dash the operator did not write) is refused.
 */
export function expandArgv(template: readonly string[], values: ArgvValues): ExpandedArgv {
  const argv: string[] = [];
  for (const [index, element] of template.entries()) {
    const names = [...element.matchAll(PLACEHOLDER)].map((match) => match[1] as ArgvPlaceholder);
    if (names.some((name) => values[name] === undefined)) {
      const flag = index > 1 ? template[index - 1] : undefined;
      const bare = element === `{${names[0]}}`;
      if (bare && flag?.startsWith('-') === true && argv.at(-1) === flag) argv.pop();
      continue;
    }
    const filled = element.replace(PLACEHOLDER, (_, name: ArgvPlaceholder) => values[name] ?? '');
    if (names.length > 0 && filled.startsWith('-') && !element.startsWith('-')) return { ok: false, index };
    argv.push(filled);
  }
  return { ok: true, argv };
}
