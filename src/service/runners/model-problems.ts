import {
  type ProviderSettings,
  type RunnerSettings,
  explainMissingPackages,
  findMissingPackages,
  providerOf,
} from '../../engine/config/config.ts';

export type ModelSettings = Extract<RunnerSettings, { readonly kind: 'model' }>;

export interface ModelProblem {
  /** The key below the runner, e.g. `providers.local.baseUrl`; absent where packages are missing. */
  readonly key?: string;
  readonly message: string;
}

const PACKAGES = {
  'openai-compatible': '@ai-sdk/openai-compatible',
  openai: '@ai-sdk/openai',
  anthropic: '@ai-sdk/anthropic',
} as const satisfies Record<ProviderSettings['kind'], string>;

/** Findings about a model runner, without a network: providers that lack a key, and packages to be installed. */
export function modelProblems(settings: ModelSettings): ModelProblem[] {
  const providers = Object.entries(settings.providers);
  const problems: ModelProblem[] = [];
  if (providers.length === 0) {
    problems.push({ key: 'providers', message: 'has no provider, so no model can be reached' });
  }
  for (const [name, provider] of providers) problems.push(...providerProblems(name, provider));
  const missing = explainMissingModelPackages(settings);
  if (missing !== undefined) problems.push({ message: missing });
  return problems;
}

function providerProblems(name: string, provider: ProviderSettings): ModelProblem[] {
  const key = `providers.${name}`;
  const problems: ModelProblem[] = [];
  if (!/^[A-Za-z0-9][\w.-]{0,63}$/.test(name)) {
    problems.push({ key, message: 'a provider is named with letters, digits, ".", "_" and "-"' });
  }
  if (provider.kind !== 'openai-compatible' && provider.apiKey === undefined) {
    problems.push({ key: `${key}.apiKey`, message: 'is required' });
  }
  return problems;
}

/** Why no provider serves a model (its full name, aliases resolved), as a sentence; undefined where one does. */
export function unknownModel(settings: ModelSettings, model: string): string | undefined {
  const names = Object.keys(settings.providers);
  if (names.includes(providerOf(model) ?? '')) return undefined;
  const known = names.length === 0 ? 'none is configured' : `configured are ${names.join(', ')}`;
  return `no provider serves the model "${model.slice(0, 80)}": a model is named <provider>/<model>, and ${known}`;
}

/** What to install where packages of the configured providers are missing; else undefined. */
export function explainMissingModelPackages(settings: ModelSettings): string | undefined {
  const kinds = new Set(Object.values(settings.providers).map(({ kind }) => kind));
  const needed = ['ai', ...[...kinds].map((kind) => PACKAGES[kind])];
  const missing = findMissingPackages(needed, import.meta.url);
  return missing.length === 0 ? undefined : explainMissingPackages('the model runner', missing);
}
