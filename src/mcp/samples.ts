import { findCases } from '../golden/golden.ts';
import { readKeptRequest } from '../hook/hook.ts';
import type { HookRequest } from '../request.ts';
import { findStoredRequest } from '../storage/facts.ts';
import { type KeptRequest, openStorage } from '../storage/storage.ts';
import type { McpDeps } from './mcp-deps.ts';

/** Kept requests that are looked at, the newest first. */
const MAX_KEPT = 200;

/** The requests there are to look at: those that the service kept, and golden cases. */
export class Samples {
  readonly #deps: McpDeps;

  constructor(deps: McpDeps) {
    this.#deps = deps;
  }

  /** The request file of a golden case. */
  async fileOf(name: string): Promise<string | undefined> {
    const { cases } = await findCases(this.#deps.goldenDir);
    return cases.find((each) => each.name === name)?.requestFile;
  }

  /** None where there is no store, or where it cannot be read; `id` is that of one that may be older. */
  async kept(id?: string): Promise<readonly KeptRequest[]> {
    const { settings } = await this.#deps.loadConfig();
    const storage = await openStorage(settings.storage.url, { mode: 'attached' }).catch(() => undefined);
    try {
      if (storage === undefined) return [];
      const { kept } = (id === undefined ? undefined : await findStoredRequest(storage, id)) ?? {};
      return [...(kept === undefined ? [] : [kept]), ...(await storage.listKeptRequests(MAX_KEPT))];
    } finally {
      await storage?.close();
    }
  }

  /** All of them, and the values of the configuration that are secrets. Nothing where the configuration has errors. */
  async read(
    id?: string,
  ): Promise<{ readonly secrets: readonly string[]; readonly requests: readonly HookRequest[] }> {
    const { cases } = await findCases(this.#deps.goldenDir).catch(() => ({ cases: [] }));
    const golden = cases.flatMap(({ deliveries }) => deliveries.map(({ request }) => request));
    const config = await this.#deps.loadConfig().catch(() => undefined);
    if (config === undefined) return { secrets: [], requests: golden };
    return {
      secrets: config.secrets,
      requests: [...golden, ...(await this.kept(id)).map((kept) => readKeptRequest(kept).request)],
    };
  }
}
