import type { Path } from './located.ts';

/** A path as it is written in messages: `hooks.mappings[2].match`, `match.path of entry 1`. */
export function formatPath(path: Path): string {
  const [first, ...rest] = path;
  // A file that is a list: `[0].action` would puzzle.
  if (typeof first === 'number') {
    const entry = `entry ${String(first + 1)}`;
    return rest.length === 0 ? entry : `${formatPath(rest)} of ${entry}`;
  }
  let text = '';
  for (const step of path) {
    if (typeof step === 'number') text += `[${String(step)}]`;
    else if (/^[A-Za-z_][\w-]*$/.test(step)) text += text === '' ? step : `.${step}`;
    else text += `[${JSON.stringify(step.slice(0, 80))}]`;
  }
  return text === '' ? 'the document' : text;
}
