/**
 * The parts in use of optional packages that need a newer engine than some hosts have: npm silently leaves these
 * packages out, and the rest has to compile all the same.
 */
declare module 'ai' {
  interface LanguageModel {
    readonly modelId: string;
  }

  interface LanguageModelProvider {
    languageModel(modelId: string): LanguageModel;
  }

  interface ProviderOptions {
    name?: string;
    baseURL: string;
    apiKey?: string;
    fetch: typeof fetch;
  }

  interface GenerateTextOptions {
    model: LanguageModel;
    instructions?: string;
    messages: { role: 'user' | 'assistant'; content: string }[];
    reasoning?: 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max';
    maxOutputTokens?: number;
    maxRetries: number;
    abortSignal: AbortSignal;
  }

  interface GenerateTextResult {
    readonly text: string;
    readonly finishReason: 'stop' | 'length' | 'content-filter' | 'tool-calls' | 'error' | 'other';
    readonly usage: { readonly inputTokens?: number; readonly outputTokens?: number };
  }

  export function generateText(options: GenerateTextOptions): Promise<GenerateTextResult>;
  export function createProviderRegistry(
    providers: Record<string, LanguageModelProvider>,
    options: { separator: string },
  ): LanguageModelProvider;

  export class APICallError extends Error {
    static isInstance(error: unknown): error is APICallError;
    readonly statusCode?: number;
    readonly responseHeaders?: Record<string, string>;
    readonly responseBody?: string;
  }
}

declare module '@ai-sdk/openai-compatible' {
  import type { LanguageModelProvider, ProviderOptions } from 'ai';
  export function createOpenAICompatible(options: ProviderOptions): LanguageModelProvider;
}

declare module '@ai-sdk/openai' {
  import type { LanguageModelProvider, ProviderOptions } from 'ai';
  export function createOpenAI(options: ProviderOptions): LanguageModelProvider;
}

declare module '@ai-sdk/anthropic' {
  import type { LanguageModelProvider, ProviderOptions } from 'ai';
  export function createAnthropic(options: ProviderOptions): LanguageModelProvider;
}
