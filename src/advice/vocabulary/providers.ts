/** A runner as other tools write it, written whole as it is here, with the operator's own names. */
import { holdsCredentials } from '../../document/document.ts';
import { isJsonObject } from '../../json.ts';

/** Where a provider is, and the variable that usually holds its key. */
interface Provider {
  readonly kind: 'openai' | 'anthropic' | 'openai-compatible';
  readonly baseUrl?: string;
  readonly variable?: string;
}

const compatible = (baseUrl: string, variable?: string): Provider => ({
  kind: 'openai-compatible',
  baseUrl,
  ...(variable === undefined ? {} : { variable }),
});

/** By their names; the addresses are those that their makers document. */
const PROVIDERS: Readonly<Record<string, Provider>> = {
  openai: { kind: 'openai', variable: 'OPENAI_API_KEY' },
  anthropic: { kind: 'anthropic', variable: 'ANTHROPIC_API_KEY' },
  ollama: compatible('http://127.0.0.1:11434/v1'),
  lmstudio: compatible('http://127.0.0.1:1234/v1'),
  openrouter: compatible('https://openrouter.ai/api/v1', 'OPENROUTER_API_KEY'),
  groq: compatible('https://api.groq.com/openai/v1', 'GROQ_API_KEY'),
  mistral: compatible('https://api.mistral.ai/v1', 'MISTRAL_API_KEY'),
  deepseek: compatible('https://api.deepseek.com/v1', 'DEEPSEEK_API_KEY'),
};

export const isProvider = (name: string): boolean => Object.hasOwn(PROVIDERS, name);

/** The runner for the model of a provider alone; `given` are the keys that stand there. */
export function modelRunner(name: string, given: unknown): string | undefined {
  const provider = Object.hasOwn(PROVIDERS, name) ? PROVIDERS[name] : undefined;
  if (provider === undefined) return undefined;
  const { model, baseUrl, baseURL, url = baseUrl ?? baseURL, apiKey } = isJsonObject(given) ? given : {};
  const address = addressOf(url, provider);
  const key = /^\$\{(\w+)\}$/.exec(typeof apiKey === 'string' ? apiKey : '')?.[1] ?? provider.variable;
  const parts = [
    `kind: ${provider.kind}`,
    ...(address === undefined ? [] : [`baseUrl: "${address}"`]),
    ...(key === undefined ? [] : [`apiKey: "\${${key}}"`]),
  ];
  const own = typeof model === 'string' && /^[\w./:-]{1,80}$/.test(model) ? model : 'MODEL';
  const full = own.startsWith(`${name}/`) ? own : `${name}/${own}`;
  return `{kind: model, providers: {${name}: {${parts.join(', ')}}}, model: ${JSON.stringify(full)}}`;
}

/** The address that is written, where it holds no secret; a server of one's own has its API below /v1. */
function addressOf(written: unknown, { baseUrl, variable }: Provider): string | undefined {
  if (typeof written !== 'string' || !/^https?:\/\/[\w.:-]+[\w./-]*$/.test(written)) return baseUrl;
  if (holdsCredentials(written)) return baseUrl;
  const isOwn = variable === undefined && /^https?:\/\/[^/]+\/?$/.test(written);
  return isOwn ? `${written.replace(/\/$/, '')}/v1` : written;
}

/** The command that posts the prompt to an address, whose answer is the reply. */
export function postingRunner(given: unknown): string {
  const { url, endpoint = url } = isJsonObject(given) ? given : {};
  const isPlain =
    typeof endpoint === 'string' &&
    /^https?:\/\/[\w.:-]+[\w./-]*$/.test(endpoint) &&
    !holdsCredentials(endpoint);
  return `{kind: command, argv: [curl, -sS, --fail-with-body, -H, "Content-Type: text/plain", --data-binary, "@-", "${isPlain ? endpoint : 'URL'}"], cwd: private}`;
}
