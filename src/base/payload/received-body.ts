/** A body with what its headers say of it. */
export interface ReceivedBody {
  readonly bytes: Buffer;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
}
