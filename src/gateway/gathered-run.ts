import { buildGatheredPrompt } from '../boundary/boundary.ts';
import type { AgentRun } from '../storage/storage.ts';

/** A run as its agent reads it: with the events that joined it in the prompt, in the order in which they came. */
export function withJoinedEvents(run: AgentRun): AgentRun {
  const { action, events = [] } = run;
  const { debounce, origin } = action;
  if (events.length === 0 || debounce === undefined) return run;
  const messages = [action, ...events].map(({ message }) => message);
  const { nonce, instructions } = debounce;
  const prompt = buildGatheredPrompt({
    messages,
    origin,
    nonce,
    ...(instructions === undefined ? {} : { instructions }),
  });
  return { ...run, action: { ...action, message: messages.join('\n\n'), prompt } };
}
