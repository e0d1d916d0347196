import type * as aiSdk from 'ai';
import type { ProviderSettings, RunnerSettings } from '../config/config.ts';
import { findMissingPackage } from './optional-package.ts';
import { createPatientFetch } from './patient-fetch.ts';

export type ModelSettings = Extract<RunnerSettings, { readonly kind: 'model' }>;
type AiSdk = typeof aiSdk;

/** The AI SDK with the configured providers, and nothing else a model name could reach. */
export interface ModelRegistry {
  readonly generateText: AiSdk['generateText'];
  readonly isApiError: AiSdk['APICallError']['isInstance'];
  getModel(name: string): aiSdk.LanguageModel;
}

/** A finding about the providers of a model runner or about a model it is to serve. */
export interface ModelProblem {
  /** The key below the runner, e.g. `providers.local.baseUrl`; absent where it is about a model's name. */
  readonly key?: string;
  readonly model?: string;
  readonly message: string;
}

/**
 * The platforms' own addresses, said here because the SDKs would otherwise take them from the environment: where a
 * prompt goes is the configuration's word alone.
 */
const OPENAI_URL = 'https://api.openai.com/v1';
const ANTHROPIC_URL = 'https://api.anthropic.com/v1';
const PACKAGES = {
  'openai-compatible': '@ai-sdk/openai-compatible',
  openai: '@ai-sdk/openai',
  anthropic: '@ai-sdk/anthropic',
} as const satisfies Record<ProviderSettings['kind'], string>;

/**
 * Findings about a model runner, without a network: providers that lack a key, packages to be installed, and each of
 * `models` (full names, aliases resolved) that no provider serves.
 */
export function modelProblems(settings: ModelSettings, models: readonly string[]): ModelProblem[] {
  const providers = Object.entries(settings.providers);
  const problems: ModelProblem[] = [];
  if (providers.length === 0) {
    problems.push({ key: 'providers', message: 'has no provider, so no model can be reached' });
  }
  for (const [name, provider] of providers) problems.push(...providerProblems(name, provider));
  for (const name of requiredPackages(settings)) {
    const isMissing = findMissingPackage([name], import.meta.url) !== undefined;
    if (isMissing)
      problems.push({ key: 'providers', message: `needs the package ${name}: npm install ${name}` });
  }
  for (const model of new Set(models)) {
    const message = unknownModel(settings, model);
    if (message !== undefined) problems.push({ model, message });
  }
  return problems;
}

function providerProblems(name: string, provider: ProviderSettings): ModelProblem[] {
  const key = `providers.${name}`;
  const problems: ModelProblem[] = [];
  if (!/^[A-Za-z0-9][\w.-]{0,63}$/.test(name)) {
    problems.push({ key, message: 'a provider is named with letters, digits, ".", "_" and "-"' });
  }
  if (provider.kind === 'openai-compatible' && provider.baseUrl === undefined) {
    problems.push({ key: `${key}.baseUrl`, message: 'is required: there is no default server' });
  }
  if (provider.kind !== 'openai-compatible' && provider.apiKey === undefined) {
    problems.push({ key: `${key}.apiKey`, message: 'is required' });
  }
  return problems;
}

/** Why no provider serves a model, as a sentence; undefined where one does. */
export function unknownModel(settings: ModelSettings, model: string): string | undefined {
  const names = Object.keys(settings.providers);
  const at = model.indexOf('/');
  const isServed = at > 0 && at < model.length - 1 && names.includes(model.slice(0, at));
  if (isServed) return undefined;
  const known = names.length === 0 ? 'none is configured' : `configured are ${names.join(', ')}`;
  return `no provider serves the model "${model.slice(0, 80)}": a model is named <provider>/<model>, and ${known}`;
}

/** The packages the configured providers need. */
export function requiredPackages(settings: ModelSettings): string[] {
  const kinds = new Set(Object.values(settings.providers).map(({ kind }) => kind));
  return ['ai', ...[...kinds].map((kind) => PACKAGES[kind])];
}

/** Loads the SDK (about 100 ms and 74 MB, so only on first use) and makes the providers. */
export async function loadModelRegistry(settings: ModelSettings): Promise<ModelRegistry> {
  // The SDK prints warnings about models it does not know to the console.
  (globalThis as { AI_SDK_LOG_WARNINGS?: boolean }).AI_SDK_LOG_WARNINGS = false;
  const sdk = await import('ai');
  const patientFetch = createPatientFetch();
  const providers = await Promise.all(
    Object.entries(settings.providers).map(
      async ([name, provider]) => [name, await makeProvider(name, provider, patientFetch)] as const,
    ),
  );
  const registry = sdk.createProviderRegistry(Object.fromEntries(providers), { separator: '/' });
  return {
    generateText: sdk.generateText,
    isApiError: (error): error is InstanceType<AiSdk['APICallError']> => sdk.APICallError.isInstance(error),
    getModel: (name) => registry.languageModel(name),
  };
}

async function makeProvider(name: string, provider: ProviderSettings, patientFetch: typeof fetch) {
  const { apiKey, baseUrl, kind } = provider;
  const fetch = patientFetch;
  switch (kind) {
    case 'openai-compatible': {
      const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
      if (baseUrl === undefined) throw new Error(`providers.${name}.baseUrl is required`);
      return createOpenAICompatible({
        name,
        baseURL: baseUrl,
        fetch,
        ...(apiKey === undefined ? {} : { apiKey }),
      });
    }
    case 'openai': {
      const { createOpenAI } = await import('@ai-sdk/openai');
      if (apiKey === undefined) throw new Error(`providers.${name}.apiKey is required`);
      return createOpenAI({ name, baseURL: baseUrl ?? OPENAI_URL, apiKey, fetch });
    }
    case 'anthropic': {
      const { createAnthropic } = await import('@ai-sdk/anthropic');
      if (apiKey === undefined) throw new Error(`providers.${name}.apiKey is required`);
      return createAnthropic({ name, baseURL: baseUrl ?? ANTHROPIC_URL, apiKey, fetch });
    }
  }
}
