/**
 * Completion for shells. The script has all words in it, made from the commands themselves: no TAB waits for a start of
 * the program. Where it knows no word, such as for `--config`, the shell completes names of files.
 */
import type { Command } from 'commander';
import type { Cli } from '../command-line.ts';
import { CliError } from '../terminal.ts';

/** A command by its words, each behind a space: empty for the program itself. */
interface CompletedCommand {
  readonly path: string;
  /** What may follow, with what it means. */
  readonly words: readonly (readonly [word: string, about: string])[];
  /** What may follow an option that takes a value; empty where that is no choice of words. */
  readonly values: readonly (readonly [option: string, choices: readonly string[]])[];
}

const SHELLS: Readonly<Record<string, (commands: readonly CompletedCommand[]) => string>> = {
  bash: (commands) => bashScript(commands),
  zsh: (commands) =>
    `autoload -U +X compinit bashcompinit && compinit && bashcompinit\n${bashScript(commands)}`,
  fish: (commands) => fishScript(commands),
};

export function completion({ terminal, program }: Cli, shell: string): Promise<void> {
  if (!Object.hasOwn(SHELLS, shell))
    throw new CliError(`there is no completion for ${shell.slice(0, 40)}: write bash, zsh or fish`, 2);
  terminal.out(SHELLS[shell]?.(completed(program)) ?? '');
  return Promise.resolve();
}

function completed(command: Command, path = ''): readonly CompletedCommand[] {
  const options = command.options.flatMap((option) =>
    [option.long, option.short].flatMap((flag) => (typeof flag === 'string' ? [{ flag, option }] : [])),
  );
  const words = [
    ...command.commands.map((child) => [child.name(), child.description()] as const),
    ...options.map(({ flag, option }) => [flag, option.description] as const),
    ['--help', 'show what this command takes'] as const,
  ];
  const values = options.flatMap(({ flag, option }) =>
    option.required || option.optional ? [[flag, option.argChoices ?? []] as const] : [],
  );
  const children = command.commands.flatMap((child) => completed(child, `${path} ${child.name()}`));
  return [{ path, words, values }, ...children];
}

const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;
const pathsOf = (commands: readonly CompletedCommand[], separator: string): string =>
  commands.flatMap(({ path }) => (path === '' ? [] : [quoted(path)])).join(separator);

function bashScript(commands: readonly CompletedCommand[]): string {
  const words = (list: readonly string[]): string => `words=${quoted(list.join(' '))} ;;`;
  const values = commands.flatMap((command) =>
    command.values.map(([flag, choices]) => `    ${quoted(`${command.path}|${flag}`)}) ${words(choices)}`),
  );
  const rest = commands.map(
    ({ path, words: all }) => `      ${quoted(path)}) ${words(all.map(([word]) => word))}`,
  );
  return `# eval "$(sluice completion bash)", or zsh
_sluice() {
  local path='' words='' i=1
  while [ "$i" -lt "$COMP_CWORD" ]; do
    case "$path \${COMP_WORDS[$i]}" in
      ${pathsOf(commands, '|')}) path="$path \${COMP_WORDS[$i]}" ;;
    esac
    i=$((i + 1))
  done
  case "$path|\${COMP_WORDS[$((COMP_CWORD - 1))]}" in
${values.join('\n')}
    *) case "$path" in
${rest.join('\n')}
    esac ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[$COMP_CWORD]}"))
}
complete -o default -o bashdefault -F _sluice sluice`;
}

function fishScript(commands: readonly CompletedCommand[]): string {
  const values = commands.flatMap((command) =>
    command.values.map(
      ([flag, choices]) =>
        `    case ${quoted(`${command.path}|${flag}`)}\n      printf '%s\\n' ${choices.map(quoted).join(' ')}; return`,
    ),
  );
  const rest = commands.map(
    ({ path, words }) =>
      `    case ${quoted(path)}\n      printf '%s\\t%s\\n' ${words.flat().map(quoted).join(' ')}`,
  );
  return `# sluice completion fish | source
function __sluice_complete
  set -l path ''
  set -l given (commandline -opc)
  for word in $given[2..-1]
    switch "$path $word"
      case ${pathsOf(commands, ' ')}
        set path "$path $word"
    end
  end
  switch "$path|$given[-1]"
${values.join('\n')}
  end
  switch "$path"
${rest.join('\n')}
  end
end
complete -a '(__sluice_complete)' -c sluice`;
}
