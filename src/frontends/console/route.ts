/** What a route of the console gets: everything it works with, and who asks what. */
import type { GatewaySettings } from '../../engine/config/config.ts';
import type { Drafts, Judge } from '../../authoring/workbench/workbench.ts';
import type { decidedCounter } from '../../service/operations/operations.ts';
import type { ConsoleParts } from '../../service/startup/startup.ts';
import type { Log } from '../../base/telemetry/telemetry.ts';
import type { Identity } from './access.ts';

export interface ConsoleContext {
  /** `serve` changes no file, and `dev` listens on this machine only. */
  readonly mode: 'dev' | 'serve';
  /** The configuration, and what its references may name: drafts are loaded beside what is live. */
  readonly configFile: string;
  readonly env: NodeJS.ProcessEnv;
  readonly log: Pick<Log, 'error' | 'info'>;
}

/** Everything the console works with; nothing is reached by any other way. */
export interface ConsoleDeps extends ConsoleContext, ConsoleParts {
  /** The address that hooks are sent to. */
  readonly hooksUrl: string;
  /** The folder `test/golden` next to the configuration. */
  readonly goldenDir: string;
}

export interface RouteContext {
  readonly deps: ConsoleDeps;
  readonly judge: Judge;
  readonly drafts: Drafts;
  /** What was decided, counted for all who look. */
  readonly decided: ReturnType<typeof decidedCounter>;
}

export interface PageRequest {
  readonly query: URLSearchParams;
  /** The parsed JSON body; undefined for GET. */
  readonly body: unknown;
  /** Fires when the page does not wait any more. */
  readonly signal: AbortSignal;
  readonly who: Identity;
  /** The address that the request came from. */
  readonly from: string;
}

/** A route returns undefined where there is no such thing. */
export type PageRoute = (context: RouteContext, asked: PageRequest) => Promise<object | undefined>;

export const gatewayOf = ({ live }: ConsoleDeps): GatewaySettings => live.generation.config.settings.gateway;

/** The visitor as the audit names it: by the name of the key. */
export const operatorName = ({ name, role }: Identity): string =>
  name === '' ? `key of the console (${role})` : name;

/** Templates may have filled names, session keys, recipients and models with what was sent. */
export const withoutNames = <Run extends object>(run: Run): Run => ({
  ...run,
  name: '',
  sessionKey: '',
  to: null,
  model: null,
});
