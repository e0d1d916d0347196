import type { Command } from 'commander';

/** The commands that the help lists, by what a person is about to do; the others stand in one line below. */
const GROUPS: Readonly<Record<string, readonly string[]>> = {
  'Begin:': ['init', 'add', 'import'],
  'Run:': ['dev', 'serve', 'doctor'],
  'Write mappings:': ['check', 'routes', 'explain', 'test', 'diff', 'send', 'lsp'],
  'Look at what happened:': ['requests', 'runs', 'events', 'sessions', 'queue'],
  'Connect and keep:': ['runners', 'channels', 'webhooks', 'storage'],
};

/** Lists the grouped commands, group by group, and names the others below. */
export function groupCommands(program: Command): void {
  const grouped = new Map(
    Object.entries(GROUPS).flatMap(([title, names]) => names.map((name) => [name, title] as const)),
  );
  const others = program.commands.filter((command) => !grouped.has(command.name()));
  for (const command of program.commands) {
    const title = grouped.get(command.name());
    if (title !== undefined) command.helpGroup(title);
  }
  program.configureHelp({
    visibleCommands: (shown) =>
      shown === program ? inOrderOfGroups(program.commands, [...grouped.keys()]) : [...shown.commands],
    groupItems: inOrderOfCommands,
  });
  const names = others.map((command) => command.name()).join(', ');
  program.addHelpText('after', `\nMore rarely: ${names}. sluice NAME --help describes each.`);
}

/** Those that are in a group, as the groups name them. */
function inOrderOfGroups(commands: readonly Command[], places: readonly string[]): Command[] {
  return commands
    .filter((command) => places.includes(command.name()))
    .toSorted((a, b) => places.indexOf(a.name()) - places.indexOf(b.name()));
}

/** The groups in the order of their commands, not of the registration. */
function inOrderOfCommands<Item>(
  _all: readonly Item[],
  visible: readonly Item[],
  titleOf: (item: Item) => string,
): Map<string, Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of visible) groups.set(titleOf(item), [...(groups.get(titleOf(item)) ?? []), item]);
  return groups;
}
