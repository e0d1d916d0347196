/** How much a model is to reason, from nothing to all it can. */
export type ReasoningLevel = 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max';

const SYNONYMS: Readonly<Record<string, ReasoningLevel>> = {
  none: 'none',
  off: 'none',
  no: 'none',
  false: 'none',
  disabled: 'none',
  minimal: 'minimal',
  min: 'minimal',
  think: 'minimal',
  low: 'low',
  on: 'low',
  enabled: 'low',
  thinkhard: 'low',
  medium: 'medium',
  med: 'medium',
  mid: 'medium',
  thinkharder: 'medium',
  harder: 'medium',
  high: 'high',
  ultra: 'high',
  ultrathink: 'high',
  highest: 'high',
  xhigh: 'xhigh',
  extrahigh: 'xhigh',
  max: 'max',
  maximum: 'max',
};

/** The level a `thinking` text means (case, blanks, dashes and underscores do not count); undefined where none. */
export function parseThinking(thinking: string | undefined): ReasoningLevel | undefined {
  const word = thinking?.toLowerCase().replaceAll(/[\s_-]+/g, '') ?? '';
  return Object.hasOwn(SYNONYMS, word) ? SYNONYMS[word] : undefined;
}
