/** A block of a template that is open at some place of it. */
interface OpenBlock {
  readonly helper: string;
  readonly path: string;
}

/** The blocks that are open at the end of a piece of a template, the innermost last. */
export function openBlocks(template: string): readonly OpenBlock[] {
  const open: OpenBlock[] = [];
  for (const [, sign, helper = '', path = ''] of template.matchAll(
    /\{\{~?([#^/])\s*(\w+)\s*((?:\[[^\]]*\]|[^\s{}~|[])*)/g,
  )) {
    if (sign === '/') open.pop();
    else open.push({ helper, path });
  }
  return open;
}
