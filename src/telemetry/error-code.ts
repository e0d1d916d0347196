/** A stable code for an error nobody expected; its message may quote anything and stays out of the log. */
export function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  return 'code' in error ? String(error.code) : error.name;
}
