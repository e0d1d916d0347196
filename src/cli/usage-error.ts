import type { Command } from 'commander';

/** What is wrong with a command line that cannot be read, and how the command is written. */
export function explainUsage(program: Command, args: readonly string[], message: string): string {
  const words = args.filter((word) => !word.startsWith('-'));
  let command = program;
  for (const word of words) {
    const next = command.commands.find((one) => one.name() === word);
    if (next === undefined) break;
    command = next;
  }
  return [message, ...formOf(program, command)].join('\n');
}

/** How the command is written, and its flags. */
function formOf(program: Command, command: Command): readonly string[] {
  if (command === program) return ['sluice --help lists the commands'];
  const name = nameOf(command);
  const flags = command.options.map(({ long, short }) => long ?? short ?? '');
  const below = command.commands.map(
    (one) => `${name} ${one.name()} ${one.usage().replace('[options] ', '')}`,
  );
  if (below.length > 0) return [`it is written: ${below.map((one) => one.trimEnd()).join(', or ')}`];
  return [`it is written: ${name} ${command.usage()}`, `its options: ${flags.join(' ')}  (${name} --help)`];
}

function nameOf(command: Command): string {
  return command.parent === null ? command.name() : `${nameOf(command.parent)} ${command.name()}`;
}
