import type * as aiSdk from 'ai';
import type { ProviderSettings } from '../config/config.ts';
import type { ModelSettings } from './model-problems.ts';
import { createUnlimitedFetch } from './unlimited-fetch.ts';

type AiSdk = typeof aiSdk;

/** The AI SDK with the configured providers, and nothing else a model name could reach. */
export interface ModelRegistry {
  readonly generateText: AiSdk['generateText'];
  readonly isApiError: AiSdk['APICallError']['isInstance'];
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
  (globalThis as { AI_SDK_LOG_WARNINGS?: boolean }).AI_SDK_LOG_WARNINGS = false;
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
    getModel: (name) => registry.languageModel(name),
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
