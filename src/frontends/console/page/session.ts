/** Stores the session of this page: a token that only pages of this address (its port included) can read. */
const NAME = 'sluice-session';

export function sessionToken(): string | undefined {
  return localStorage.getItem(NAME) ?? undefined;
}

export function keepSession(token: string): void {
  localStorage.setItem(NAME, token);
}

/** Ends the session: the same address asks for the key now. */
export function endSession(): void {
  localStorage.removeItem(NAME);
  location.reload();
}
