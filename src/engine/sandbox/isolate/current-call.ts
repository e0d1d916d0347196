/** What the realm keeps of the call in progress; its console, `Date` and `Math.random` read it. */
export interface CurrentCall {
  pins: Pins;
  logs: LogBuffer;
  maxLogBytes: number;
  /** Of the module: `transform.env`. */
  env: Readonly<Record<string, string>>;
}

interface Pins {
  now: number;
  seed: number;
  /** Of the call's random bytes. */
  key: string;
  /** Blocks of random bytes drawn so far. */
  drawn: number;
}

interface LogBuffer {
  lines: { level: string; text: string }[];
  bytes: number;
  dropped: number;
}

/** The settings of a module, as its worker was given them. */
export interface CallSettings {
  readonly exportName: string | undefined;
  readonly reuse: boolean;
  /** `context.url` is a `URL`, as OpenClaw's transforms have it; else text. */
  readonly urlObject: boolean;
  /** JSON text of `transform.env`. */
  readonly env: string;
  readonly maxResultBytes: number;
  readonly maxLogBytes: number;
}
