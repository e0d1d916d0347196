import type * as aiSdk from 'ai';
import type { ProviderSettings } from '../../engine/config/config.ts';
import type { ModelSettings } from './model-problems.ts';

type AiSdk = typeof aiSdk;

/** The AI SDK with the configured providers, and nothing else a model name could reach. */
export interface ModelRegistry {
  readonly generateText: AiSdk['generateText'];
  readonly isApiError: AiSdk['APICallError']['isInstance'];
  /** `name` was found to be provider/model. */
  getModel(name: string): aiSdk.LanguageModel;
}

/**
 * The platforms' own addresses, said here because the SDKs would otherwise take them from the environment: where a
 * prompt goes is the configuration's word alone.
 */
const OPENAI_URL = 'https://api.openai.com/v1';
const ANTHROPIC_URL = 'https://api.anthropic.com/v1';

/** Loads the SDK (about 100 ms and 74 MB, so only on first use) and makes the providers. */
export async function loadModelRegistry(settings: ModelSettings): Promise<ModelRegistry> {
  // The SDK prints warnings about models it does not know to the console.
  globalThis.AI_SDK_LOG_WARNINGS = false;
  const sdk = await import('ai');
  const unlimitedFetch = createUnlimitedFetch();
  const providers = await Promise.all(
    Object.entries(settings.providers).map(
      async ([name, provider]) => [name, await makeProvider(name, provider, unlimitedFetch)] as const,
    ),
  );
  const registry = sdk.createProviderRegistry(Object.fromEntries(providers), { separator: '/' });
  return {
    generateText: sdk.generateText,
    isApiError: (error): error is InstanceType<AiSdk['APICallError']> => sdk.APICallError.isInstance(error),
    getModel: (name) => registry.languageModel(name as `${string}/${string}`),
  };
}

async function makeProvider(name: string, provider: ProviderSettings, fetch: typeof globalThis.fetch) {
  const { apiKey, baseUrl } = provider;
  switch (provider.kind) {
    case 'openai-compatible': {
      const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
      const baseURL = required(baseUrl, `providers.${name}.baseUrl`);
      return createOpenAICompatible({ name, baseURL, fetch, ...(apiKey === undefined ? {} : { apiKey }) });
    }
    case 'openai': {
      const { createOpenAI } = await import('@ai-sdk/openai');
      const key = required(apiKey, `providers.${name}.apiKey`);
      return createOpenAI({ name, baseURL: baseUrl ?? OPENAI_URL, apiKey: key, fetch });
    }
    case 'anthropic': {
      const { createAnthropic } = await import('@ai-sdk/anthropic');
      const key = required(apiKey, `providers.${name}.apiKey`);
      return createAnthropic({ name, baseURL: baseUrl ?? ANTHROPIC_URL, apiKey: key, fetch });
    }
  }
}

function required(value: string | undefined, at: string): string {
  if (value === undefined) throw new Error(`${at} is required`);
  return value;
}

type DispatcherClass = new (options: {
  headersTimeout: number;
  bodyTimeout: number;
  pipelining: number;
}) => object;

/**
 * `fetch` without its own limit of 300 s until the headers of an answer: a model may think for longer before it says
 * the first byte, and the run's deadline is the only one that counts. The limit belongs to the connection pool
 * (undici), whose class Node shows only through the process-wide pool; where that is gone, `fetch` is used as it is.
 * A redirect is not followed, since the key would go along to an address that the configuration does not name.
 * No connection is used twice, since one closed for being idle as a prompt leaves would end the run.
 */
function createUnlimitedFetch(): typeof fetch {
  const pool = (globalThis as Record<symbol, unknown>)[Symbol.for('undici.globalDispatcher.1')];
  if (typeof pool !== 'object' || pool === null)
    return (input, init) => fetch(input, { ...init, redirect: 'manual' });
  const dispatcher = new (pool.constructor as DispatcherClass)({
    headersTimeout: 0,
    bodyTimeout: 0,
    pipelining: 0,
  });
  return (input, init) => fetch(input, { ...init, redirect: 'manual', dispatcher } as RequestInit);
}
