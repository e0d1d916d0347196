/** Keys as a path of a template: a key that is no plain name stands in brackets. */
export function templatePath(keys: readonly string[]): string {
  return keys.map((key) => (/^[A-Za-z_$][\w$-]*$/.test(key) ? key : `[${key}]`)).join('.');
}
