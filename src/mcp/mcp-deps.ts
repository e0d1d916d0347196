import type { LoadedConfig } from '../config/config.ts';
import type { Workshop } from '../console/console.ts';

/** What a command printed, and how it ended. */
export interface Printed {
  readonly out: string;
  readonly err: string;
  readonly exitCode: number;
}

/** What a tool answers. */
export interface Answer {
  /** Sluice's own words, and those of the operator's files. */
  readonly words: string;
  /** What holds values of requests. */
  readonly external?: string;
  /** The request that it is about. */
  readonly id?: string;
  readonly isError?: boolean;
}

/** What the tools work with: commands that only read, and what loads files that are not written. */
export interface McpDeps {
  readonly version: string;
  /** Names of fields whose values no answer shows, beside those that are usual. */
  readonly privateFields: readonly string[];
  readonly goldenDir: string;
  loadConfig(): Promise<LoadedConfig>;
  openWorkshop(): Workshop;
  check(): Promise<Printed>;
  test(filter: string | undefined): Promise<Printed>;
  explain(request: string, all: boolean): Promise<Printed>;
  requests(options: {
    readonly limit: number;
    readonly mapping?: string | undefined;
    readonly state?: string | undefined;
  }): Promise<Printed>;
  untilInterrupted(): Promise<void>;
}
