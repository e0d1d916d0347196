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

/** The path that an expression is, or the paths that it gives to its helper; those of its text are left out. */
export function pathsIn(expression: string): readonly string[] {
  const written = expression.trim();
  if (/^(?:[\w.$[\]-]+|(?:\.\.\/){0,9}\w[\w.$[\]/-]*)$/.test(written)) return [written];
  const [, ...values] = written.replaceAll(/"[^"]*"|'[^']*'/g, '""').split(/[\s()=]+/);
  return values.filter((value) => /^[A-Za-z_][\w.[\]/-]*$/.test(value)).slice(0, MAX_PATHS);
}

/** Paths of one expression that are looked at. */
const MAX_PATHS = 5;
