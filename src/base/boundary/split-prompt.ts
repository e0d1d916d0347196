/** A prompt as people look at it: what the operator says, and what came from outside. */
export interface PromptParts {
  /** The operator's instructions and the warning; the whole prompt where it has no boundary. */
  readonly before: string;
  /** Absent where the mapping turned the boundary off. */
  readonly external?: { readonly opening: string; readonly text: string; readonly closing: string };
  readonly after: string;
}

/** Takes a prompt apart at the two markers that carry the nonce. */
export function splitPrompt(prompt: string, nonce: string): PromptParts {
  const opening = `<<<EXTERNAL_CONTENT id="${nonce}">>>`;
  const closing = `<<<END_EXTERNAL_CONTENT id="${nonce}">>>`;
  // Neither can stand in the text between: what imitates a marker was neutralised.
  const start = prompt.indexOf(`\n${opening}\n`);
  const end = prompt.lastIndexOf(`\n${closing}`);
  const from = start + opening.length + 2;
  if (start === -1 || end < from - 1) return { before: prompt, after: '' };
  return {
    before: prompt.slice(0, start),
    external: { opening, text: prompt.slice(from, end), closing },
    after: prompt.slice(end + closing.length + 1),
  };
}
