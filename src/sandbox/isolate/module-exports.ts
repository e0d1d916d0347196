/** The named export, else `default`, else `transform`; a CommonJS module may itself be the function. */
export function pickExport(exports: unknown, name: string | undefined): (argument: unknown) => unknown {
  for (const key of name === undefined ? ['default', 'transform'] : [name]) {
    if (typeof exports === 'function' && key === 'default') return exports as (argument: unknown) => unknown;
    const value = (exports as Record<string, unknown>)[key];
    if (typeof value === 'function') return value as (argument: unknown) => unknown;
    if (value !== undefined) break;
  }
  throw new TypeError('the transform exports no function to call');
}

/** Names and types of exports, at most 200. */
export function listExports(exports: unknown): [string, string][] {
  const listed: [string, string][] = typeof exports === 'function' ? [['default', 'function']] : [];
  if ((typeof exports !== 'object' && typeof exports !== 'function') || exports === null) return listed;
  for (const key of Object.keys(exports).slice(0, 200)) {
    listed.push([key.slice(0, 200), typeof (exports as Record<string, unknown>)[key]]);
  }
  return listed;
}
