/** A text between single quotes, where only they have to be written twice, in YAML. */
export function singleQuoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
